import { X509Certificate } from 'node:crypto';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../black-box/https.ts';
import { type ProgramProcess, bin, spawnProgram, untilOutput } from '../black-box/program.ts';
import { type Disk, type Store, textOf } from './store.ts';

export type Time = { readonly from: number; readonly to: number };

/** What ends a server; an empty text is nothing. */
export type Ending = '' | 'SIGKILL' | 'SIGTERM' | 'SIGINT' | 'SIGTERM twice';

/** A line of the log. */
export type LogLine = Partial<Record<'level' | 'requestId' | 'cause' | 'reason', string>> &
  Partial<Record<'status' | 'error' | 'dropped', number>> & { readonly message: string };

/** A server or a command, until all of its output was read. */
export type Program = ProgramProcess & {
  readonly args: readonly string[];
  readonly from: number;
  to: number;
  log: string;
  errors: string;
  status?: number | null;
  /** What has ended it, and since when. */
  ending?: Ending;
  endingAt: number;
  /** Of a server: its URL, that of its health, its log, and the size of its WAL file at the end. */
  url?: string;
  health?: string;
  lines?: readonly LogLine[];
  walSize?: number;
};

/** A request that creates a plant, its response if it had one, and its line in the log. */
export type Sent = {
  readonly requestId: string;
  readonly id: string;
  readonly text: string;
  readonly server: Program;
  /** Whether the client disconnects. */
  readonly leaves: boolean;
  readonly from: number;
  to: number;
  status?: number;
  json?: { readonly error?: number; readonly name?: string; readonly tag?: string };
  line?: LogLine | undefined;
};

type Cause = Record<'from' | 'begunAt' | 'endsAt' | 'to', number> & { names: readonly string[] };

/** What takes longer hangs. */
const limitMs = 60_000;
const serverArgs =
  '--port 0 --health-port 0 --metrics on --log json --tokens-file tokens ' +
  '--handler-timeout-ms 2000 --shutdown-timeout-ms 2000';
const contested = ['0', '1', '2', '3', '-1', String(2n ** 53n + 1n), String(-(2n ** 63n))];
const names = ['', 'Aloë 🌵', 'e\u0301', 'a"b\\c\n', 'L'.repeat(300), 'L'.repeat(60_000)];

/** Variables of the shell commands. */
const variables = {
  NODE: process.execPath,
  RENEW_TOKENS: `n=$(($(cat $ROOT/tokens | wc -l) % 4))
    for i in $(seq 0 $n); do echo truth-token-$i; done > $ROOT/new; mv $ROOT/new $ROOT/tokens`,
  RENEW_TLS: `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=a \\
    -keyout $ROOT/key -out $ROOT/cert 2> /dev/null`,
};

export const now = () => performance.now();

/** A server, clients that create plants, and a record of what was done and said. */
export class World {
  readonly servers: Program[] = [];
  readonly commands: Program[] = [];
  readonly sent: Sent[] = [];
  /** Plants that were read: each acknowledged before `from`, none that was sent after `to`. */
  readonly readings: (Disk & Time & { readonly name: string })[] = [];
  readonly causes: Cause[] = [];
  /** What `/livez` and `/readyz` said in how many milliseconds, and a create right after it. */
  readonly probes: (Time & Record<'live' | 'ready' | 'ms', number> & { created: Sent })[] = [];
  /** Statements that were compared at once. */
  readonly compared: { statement: string; isTrue: boolean; what: Time & { said: string } }[] = [];
  /** Plants, as id and text, that were written without the server. */
  readonly written = new Set<string>();
  /** `/metrics` at the end, without creates, and the size of the WAL file. */
  metrics = { body: '', walSize: 0 };
  /** Plants that were sent before are no longer required: the operator has removed them. */
  lostAt = -Infinity;
  server: Program | undefined;
  readonly root: string;
  readonly store: Store;
  readonly serverArgs: readonly string[];
  readonly #clients: Promise<void>[] = [];
  #isLoading = true;
  #lastId = 1_000n;

  constructor(seed: number, root: string, store: Store) {
    [this.root, this.store] = [root, store];
    const tls = seed % 3 === 0 ? ' --tls-cert cert --tls-key key' : '';
    this.serverArgs = `${serverArgs}${tls}`.split(' ');
  }

  compare(statement: string, isTrue: boolean, said = ''): void {
    this.compared.push({ statement, isTrue, what: { said, from: now(), to: now() } });
  }

  /** Adds what can cause failures from now on. It begins between two moments, and ends so. */
  addCause(all: readonly string[]): Cause {
    const causes = all.filter((one) => !/^(none|alone)$/.test(one));
    const cause = { names: causes, from: now(), begunAt: Infinity, endsAt: Infinity, to: Infinity };
    this.causes.push(cause);
    return cause;
  }

  get variables() {
    const PID = this.isUp ? String(this.server?.process.pid) : '';
    return { ...variables, ...this.store.variables, ROOT: this.root, PID };
  }

  get isUp(): boolean {
    return this.server?.url !== undefined && this.server.to === Infinity;
  }

  get walSize(): number {
    return statSync(`${this.store.variables.DB}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Starts a server, if none runs. Resolves once it accepts plants, or has ended. */
  async start(isSecond = false): Promise<Program> {
    if (this.server?.to === Infinity && !isSecond) return this.server;
    const server = spawn(this, this.serverArgs);
    this.servers.push(server);
    if (!isSecond) this.server = server;
    const first = /^\{.*"accepting plants.*\}$/m;
    await untilOutput(server, (stdout) => first.test(stdout)).catch(() => {});
    const [line = '{}'] = first.exec(server.stdout()) ?? [];
    Object.assign(server, JSON.parse(line) as Pick<Program, 'url' | 'health'>);
    this.compare('a start ends', server.url !== undefined || server.to < Infinity);
    return server;
  }

  async end(how: Ending): Promise<void> {
    const { server } = this;
    if (how === '' || server === undefined || server.to < Infinity) return;
    if (how === 'SIGKILL') return this.kill(server);
    Object.assign(server, { ending: how, endingAt: now() });
    server.process.kill(how === 'SIGINT' ? how : 'SIGTERM');
    if (how === 'SIGTERM twice') setTimeout(() => server.process.kill(), oneOf([0, 5, 30, 200]));
    this.compare('a stop ends', await endsWithin(server, 5 * limitMs), server.stdout());
    await this.kill(server);
    server.walSize = this.walSize;
  }

  async kill(program: Program): Promise<void> {
    if (program.to < Infinity) return;
    Object.assign(program, { ending: 'SIGKILL', endingAt: Math.min(program.endingAt, now()) });
    program.process.kill('SIGKILL');
    await program.exited;
  }

  async command(args: readonly string[], killAfterMs = 0): Promise<Program> {
    const command = spawn(this, args);
    const isEnded = await endsWithin(command, killAfterMs || 5 * limitMs);
    this.compare('a command ends', isEnded || killAfterMs > 0, args.join(' '));
    await this.kill(command);
    this.commands.push(command);
    return command;
  }

  /** Exports, and records the plants of the output if it claims to be complete. */
  async export(): Promise<void> {
    const { status, from, to, log, errors } = await this.command(['export']);
    if (status !== 0) return;
    const lines = log.split('\n').slice(0, -1);
    const plants = lines.map((line): [string, string] => {
      const { name, tag } = JSON.parse(line) as { name: string; tag?: string };
      return [/"id":(-?\d+)/.exec(line)?.[1] ?? '', textOf(name, tag)];
    });
    const rows = new Map(plants);
    const counts = [countIn(errors), lines.length, rows.size];
    this.compare('an export has each plant once', new Set(counts).size === 1, counts.join());
    this.readings.push({ name: 'export', from, to, rows });
  }

  freshId(): string {
    this.#lastId += 1n;
    return String(BigInt.asIntN(64, this.#lastId * oneOf([1n, 0x9e3779b97f4a7c15n])));
  }

  /** Creates plants, as four clients and one that probes, until the run is finished. */
  load(): void {
    for (let at = 0; at < 5; at += 1) this.#clients.push(this.#createPlants(at === 0));
  }

  async #createPlants(isProbing: boolean): Promise<void> {
    while (this.#isLoading) {
      await sleep(Math.random() * 60);
      if (!this.isUp) continue;
      const [kind, earlier] = [Math.random(), oneOf(this.sent)];
      const text = textOf(oneOf(names), oneOf([null, '', 'tag']));
      if (isProbing) await this.#probe();
      else if (kind < 0.5) await this.create(this.freshId(), text);
      else if (kind < 0.6 && earlier) await this.create(earlier.id, earlier.text);
      else if (kind < 0.8) await this.create(oneOf(contested), textOf(oneOf(['one', 'two'])));
      else await this.create(this.freshId(), textOf('leaves'), oneOf([0, 1, 3, 6]));
    }
  }

  /** Asks whether the server is alive and ready, and creates a plant right after it. */
  async #probe(): Promise<void> {
    const { server } = this;
    const from = now();
    const [live, ready] = [await this.get('/livez'), await this.get('/readyz')];
    const ms = now() - from;
    if (server !== this.server || !this.isUp) return;
    const created = await this.create(this.freshId(), textOf('probe'));
    this.probes.push({ from, to: now(), live: live.status, ready: ready.status, ms, created });
  }

  /** Creates a plant; the client disconnects after a time. Resolves once the request has ended. */
  async create(id: string, text: string, leavesAfterMs?: number): Promise<Sent> {
    const { server } = this;
    if (server === undefined) throw new Error('no server was started');
    const requestId = `truth-${this.sent.length}`;
    const leaves = leavesAfterMs !== undefined;
    const sent: Sent = { requestId, id, text, server, leaves, from: now(), to: Infinity };
    this.sent.push(sent);
    const { status, body } = await this.#post(lineOf(id, text), 0, requestId, leavesAfterMs);
    if (status > 0) Object.assign(sent, { status, json: JSON.parse(body) as Sent['json'] });
    sent.to = now();
    return sent;
  }

  /** Posts a body. Without an id, a new connection shows the certificate. */
  async #post(body: string, token: number, requestId?: string, timeoutMs = 2 * limitMs) {
    const headers = {
      Authorization: `Bearer truth-token-${token}`,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'X-Request-Id': requestId ?? 'at rest',
    };
    const agent = requestId === undefined ? { agent: false as const } : {};
    const signal = AbortSignal.timeout(timeoutMs);
    const options = { ...agent, signal, method: 'POST', headers, rejectUnauthorized: false };
    return send(this.server?.url ?? '', options, body).catch(() => noResponse);
  }

  async get(path: string) {
    return send(`${this.server?.health}${path}`, { agent: false }).catch(() => noResponse);
  }

  /** Waits until creates succeed, asks the commands, stops, and reads the disk. */
  async finish(): Promise<void> {
    await this.start();
    const isRecovered = await isTrueSoon(async () => {
      const { status } = await this.create(this.freshId(), textOf('recovered'));
      return status === 200 || !this.isUp;
    });
    const what = `${this.server?.stdout()}${this.server?.stderr()}`;
    this.compare('creates succeed again after the last act', isRecovered && this.isUp, what);
    this.#isLoading = false;
    await Promise.all(this.#clients);
    if (isRecovered && this.isUp) await this.#askAtRest();
    await this.end('SIGTERM');
    const at = now();
    this.readings.push({ name: 'disk', from: at, to: at, ...(await this.store.read()) });
  }

  /** What is said while nothing changes must be exact. */
  async #askAtRest(): Promise<void> {
    const usesFiles = await isTrueSoon(async () => this.#usesFiles());
    this.compare('the server uses its tokens and its certificate', usesFiles);
    // Requests whose client has disconnected may not have ended; a busy machine may check too late.
    const isReady = await isTrueSoon(async () => {
      const { body } = await this.get('/metrics');
      this.metrics = { body, walSize: this.walSize };
      const isIdle = /^plantstore_store_up 1$/m.test(body) && /_plants_waiting 0$/m.test(body);
      return isIdle && (await this.get('/readyz')).status === 200;
    });
    this.compare('a server that creates plants is ready', isReady);
    const { rows, damage } = await this.store.read();
    const [{ status, log, errors }] = await Promise.all([this.command(['check']), this.export()]);
    const isExact = status === 0 && countIn(log) === rows.size && damage === undefined;
    this.compare('a check counts the plants of a sound database', isExact, `${log}${errors}`);
  }

  /** Whether the server accepts and counts just its tokens, and shows its certificate. */
  async #usesFiles(): Promise<boolean> {
    const read = (name: string) => readFileSync(join(this.root, name), 'utf8');
    const count = read('tokens').trim().split('\n').length;
    const [last, next] = [await this.#post('', count - 1), await this.#post('', count)];
    const shown = last.certificate;
    const isShown = !shown || new X509Certificate(read('cert')).raw.equals(shown);
    const said = [...(this.server?.stdout() ?? '').matchAll(/"tokens":(\d+)/g)].at(-1)?.[1];
    const isSaid = said === undefined || Number(said) === count;
    return last.status === 400 && next.status === 401 && isShown && isSaid;
  }

  async dispose(): Promise<void> {
    this.#isLoading = false;
    for (const server of this.servers) await this.kill(server);
    await this.store.dispose();
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Starts the program without the privileges of root, which ignore the modes of files. */
function spawn({ store, root: cwd }: World, args: readonly string[]): Program {
  const env = { ...store.env, PLANTSTORE_DATABASE: store.database };
  const start = [process.execPath, bin] as const;
  const drop = ['setpriv', '--bounding-set=-all', '--inh-caps=-all', ...start] as const;
  const command = process.geteuid?.() === 0 ? drop : start;
  const started = spawnProgram({ command, args, cwd, env }, () => {});
  const times = { from: now(), to: Infinity, endingAt: Infinity };
  const program: Program = { ...started, args, ...times, log: '', errors: '' };
  void started.exited.then((status) => {
    const [log, errors] = [started.stdout(), started.stderr()];
    Object.assign(program, { status, log, errors, to: now() });
  });
  return program;
}

const noResponse = { status: 0, body: '', certificate: undefined };

/** Returns a plant as JSON. */
export function lineOf(id: string, text: string): string {
  const [name, tag] = JSON.parse(text) as [string, string | null];
  return JSON.stringify({ id: 0, name, tag: tag ?? undefined }).replace('0', id);
}

async function isTrueSoon(ask: () => Promise<boolean>): Promise<boolean> {
  for (const from = now(); now() - from < limitMs; await sleep(100)) if (await ask()) return true;
  return false;
}

async function endsWithin({ exited }: Program, ms: number): Promise<boolean> {
  return Promise.race([exited.then(() => true), sleep(ms, false, { ref: false })]);
}

export const oneOf = <T>(list: readonly T[]): T =>
  list[Math.floor(Math.random() * list.length)] as T;

/** Returns the number of plants that a text names first; `NaN` if it names none. */
export const countIn = (text: string): number => Number(/(\d+) plants?/.exec(text)?.[1]);
