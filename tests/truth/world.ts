import { rmSync, statSync } from 'node:fs';
import { Agent } from 'node:https';
import { inspect } from 'node:util';
import { create, freshId, get, type Probe, type Sent, usesFiles } from './clients.ts';
import { Program, type Time } from './program.ts';
import { type Disk, diskOf, isTrueSoon, type Store, textOf } from './store.ts';

/** The limit of a stop, in milliseconds. */
export const shutdownMs = 2_000;

/** Settings of the servers. */
export const serverArgs = (
  '--port 0 --health-port 0 --metrics on --log json --tokens-file tokens --tls-cert cert ' +
  `--tls-key key --handler-timeout-ms 2000 --shutdown-timeout-ms ${shutdownMs}`
).split(' ');

/** Variables of the shell commands. */
const variables = {
  NODE: process.execPath,
  RENEW_TOKENS: `(flock 9; n=$(($(tail -n 1 $ROOT/counts) % 4 + 1)); echo $n >&9; cd $ROOT
    for i in $(seq $n); do echo truth-token-$i; done > new; mv new tokens) 9>> $ROOT/counts`,
  RENEW_TLS: `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=a \\
    -keyout $ROOT/key -out $ROOT/cert 2> /dev/null`,
};

/** Lines of `/metrics` of a server without requests. */
const idle = ['store_up 1', 'plants_waiting 0', 'requests_in_flight 0', 'connections 0'];

/** Plants that were read: each acknowledged before `from`, none that was sent after `to`. */
export type Reading = Disk & Time & { readonly name: string };

/** A server, clients that create plants, and a record of what was done and reported. */
export class World {
  readonly servers: Program[] = [];
  readonly commands: Program[] = [];
  readonly sent: Sent[] = [];
  /** Plants that were reported as stored. */
  readonly stored: Sent[] = [];
  readonly probes: Probe[] = [];
  readonly readings: Reading[] = [];
  /** What can cause failures: from `from` on, with its whole effect from `begun` on, until `to`. */
  readonly causes: { names: readonly string[]; from: number; begun: number; to: number }[] = [];
  /** The number of statements that were compared, and those that are false. */
  checked = 0;
  readonly falsehoods: { readonly statement: string; readonly what: string }[] = [];
  /** `/metrics` at the end, without creates, and the size of the WAL file then. */
  metrics = '';
  walSize = 0;
  /** Plants that were sent before are no longer required: the operator has removed them. */
  lostAt = -Infinity;
  isLoading = true;
  readonly agent = new Agent({ keepAlive: true });
  readonly root: string;
  readonly store: Store;

  constructor(root: string, store: Store) {
    [this.root, this.store] = [root, store];
  }

  /** Compares a statement with what is true, and describes what is not. */
  compare(statement: string, isTrue: boolean, what: object = {}): void {
    this.checked += 1;
    if (isTrue) return;
    const causes = this.causesIn({ from: performance.now(), to: performance.now(), ...what });
    const options = { depth: 1, maxStringLength: 400, breakLength: Infinity, compact: true };
    this.falsehoods.push({ statement, what: `${inspect(what, options)} | causes: ${causes}` });
  }

  /** Returns the names of the causes that were there, as a text that regular expressions search. */
  causesIn({ from, to }: Time): string {
    const found = this.causes.filter((one) => one.from <= to && one.to >= from);
    return found.flatMap(({ names }) => names).join(' ');
  }

  /** Whether an act with these causes was the only cause in a time. */
  isOnlyCause(causes: readonly string[], time: Time): boolean {
    return this.causesIn(time) === causes.join(' ');
  }

  get variables() {
    const PID = this.server?.isUp ? String(this.server.process.pid) : '';
    return { ...variables, ...this.store.variables, ROOT: this.root, PID };
  }

  get server(): Program | undefined {
    return this.servers.at(-1);
  }

  /** Starts a server, if none runs. Resolves once it accepts plants, or has ended. */
  async start(): Promise<Program> {
    if (this.server?.to === Infinity) return this.server;
    const server = new Program(serverArgs, this.store, this.root);
    this.servers.push(server);
    await server.accepts();
    return server;
  }

  async command(args: readonly string[], killAfterMs = 0): Promise<Program> {
    const command = new Program(args, this.store, this.root);
    this.commands.push(command);
    if (killAfterMs > 0) setTimeout(() => void command.end('SIGKILL'), killAfterMs).unref();
    await command.ended;
    return command;
  }

  async export(): Promise<void> {
    const command = await this.command(['export']);
    const lines = command.log.match(/.+\n/g) ?? [];
    const rows = lines.map((line) => JSON.parse(line.replace(/(-?\d+)/, '"$1"')) as object);
    if (command.status === 0) this.read('export', command, diskOf(rows), command.errors);
  }

  /** Adds plants that were read, whose number was said unless the reading was ended. */
  read(name: string, { from, to }: Time, disk: Disk, said?: string): void {
    this.readings.push({ name, from, to, ...disk });
    const count = Number(/(\d+) plants?/.exec(said ?? '')?.[1]);
    const isTrue = said === undefined || count === disk.rows.size;
    this.compare('a reading counts its rows', isTrue, { name, said, count: disk.rows.size });
  }

  /** Waits until creates succeed, checks tokens, certificate and metrics, and stops the server. */
  async finish(loaded: Promise<void>): Promise<void> {
    const isRecovered = await isTrueSoon(async () => {
      await this.start();
      return (await create(this, freshId(), textOf('recovered'))).status === 200;
    });
    this.compare('creates succeed again after the last act', isRecovered, this.server);
    this.isLoading = false;
    await loaded;
    this.agent.destroy();
    const isRenewed = await isTrueSoon(async () => usesFiles(this));
    this.compare('the server uses its tokens and its certificate', isRenewed);
    // Requests whose client has disconnected may not have ended.
    const isIdle = await isTrueSoon(async () => {
      this.metrics = (await get(this, '/metrics')).body;
      const wal = statSync(`${this.store.variables.DB}-wal`, { throwIfNoEntry: false });
      this.walSize = wal?.size ?? 0;
      return idle.every((line) => this.metrics.includes(`\nplantstore_${line}\n`));
    });
    this.compare('a server is ready and idle after its creates', isIdle, this);
    const [check] = await Promise.all([this.command(['check']), this.export()]);
    await this.server?.end('SIGTERM');
    const now = performance.now();
    this.read('disk', { from: now, to: now }, await this.store.read(), check.log);
  }

  async dispose(): Promise<void> {
    this.isLoading = false;
    for (const one of [...this.servers, ...this.commands]) await one.end('SIGKILL');
    await this.store.dispose();
    rmSync(this.root, { recursive: true, force: true });
  }
}
