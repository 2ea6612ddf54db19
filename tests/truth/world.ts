import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bin, neededVariables } from '../black-box/program.ts';
import { createRandom, type Plan } from './plan.ts';
import { type Disk, type Store, textOf } from './store.ts';

/** A process of the program: a server or a command. */
export type Program = {
  readonly args: readonly string[];
  readonly child: ChildProcessWithoutNullStreams;
  readonly from: number;
  /** When all of its output was read. */
  to: number;
  readonly ended: Promise<unknown>;
  stdout: string;
  stderr: string;
  /** What has ended it, and since when. */
  ending?: Ending;
  endingAt: number;
  /** Of a server: its URL, that of its health, and the size of the WAL file after its end. */
  url?: string;
  health?: string;
  walSize?: number;
};

/** What ends a server. */
export type Ending = 'kill' | 'SIGTERM' | 'SIGINT' | 'SIGTERM twice';

/** A request that creates a plant, and its response if it had one. */
export type Sent = {
  readonly requestId: string;
  readonly id: string;
  readonly text: string;
  readonly server: Program;
  readonly from: number;
  to: number;
  /** Whether the client disconnects. */
  readonly leaves: boolean;
  status?: number;
  json?: { readonly error?: number; readonly name?: string; readonly tag?: string };
};

/** Plants that were read: each acknowledged before `from`, none that was sent after `to`. */
export type Reading = {
  readonly name: 'disk' | 'export' | 'backup';
  readonly from: number;
  readonly to: number;
  readonly disk: Disk;
};

/** Something that can cause failures. It begins between two moments, and ends so. */
export type Cause = {
  readonly names: readonly string[];
  readonly from: number;
  begunAt: number;
  endsAt: number;
  to: number;
};

/** What takes longer hangs. */
const limitMs = 60_000;

/** Ids of plants that clients compete for. */
const contested = [0n, 1n, 2n, 3n, 4n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)].map(
  String,
);

export const now = () => performance.now();

/** A store with a server, clients that create plants, and a record of what everything said. */
export class World<S extends Store = Store> {
  readonly servers: Program[] = [];
  readonly commands: Program[] = [];
  readonly sent: Sent[] = [];
  readonly readings: Reading[] = [];
  readonly causes: Cause[] = [];
  /** What `/readyz` said, in how many milliseconds, and a create right after it. */
  readonly probes: { readonly ready: number; readonly ms: number; readonly created: Sent }[] = [];
  /** Statements that an act has compared itself. */
  readonly compared: { readonly name: string; readonly isTrue: boolean; readonly what: string }[] =
    [];
  /** Plants, as id and text, that were written without the server. */
  readonly written = new Set<string>();
  /** The numbers of tokens that the tokens file had. */
  readonly tokens: number[] = [];
  readonly tokensFile: string;
  /** `/metrics` at the end, without creates, and the size of the WAL file. */
  metrics = '';
  walSize = 0;
  /** Plants that were sent before are no longer required: the operator has removed them. */
  lostAt = -Infinity;
  server: Program | undefined;
  readonly random: ReturnType<typeof createRandom>;
  readonly plan: Plan;
  readonly root: string;
  readonly store: S;
  readonly #clients: Promise<void>[] = [];
  #isLoading = true;
  #lastId: bigint;

  constructor(plan: Plan, root: string, store: S) {
    this.plan = plan;
    this.root = root;
    this.store = store;
    this.random = createRandom(plan.seed ^ 0x5bd1e995);
    this.#lastId = 1_000n + BigInt(plan.seed % 1_000) * 100_000n;
    this.tokensFile = join(root, 'tokens');
    this.setTokens(1);
  }

  compare(name: string, isTrue: boolean, what: string): void {
    this.compared.push({ name, isTrue, what });
  }

  /** Writes so many tokens. */
  setTokens(count: number): void {
    this.tokens.push(count);
    const lines = Array.from({ length: count }, (_, index) => `truth-token-${index}\n`);
    writeFileSync(`${this.tokensFile}.new`, lines.join(''));
    renameSync(`${this.tokensFile}.new`, this.tokensFile);
  }

  /** Starts the program without the privileges of root, which ignore the modes of files. */
  #spawn(args: readonly string[]): Program {
    const drop = ['setpriv', '--bounding-set=-all', '--inh-caps=-all'];
    const prefix = process.geteuid?.() === 0 ? drop : [];
    const [command = '', ...rest] = [...prefix, process.execPath, bin, ...args];
    const { env, database } = this.store;
    const variables = { ...neededVariables(), ...env, PLANTSTORE_DATABASE: database };
    const child = spawn(command, rest, { cwd: this.root, env: variables });
    const ended = once(child, 'close').then(() => (program.to = now()));
    const times = { from: now(), to: Infinity, endingAt: Infinity };
    const program: Program = { args, child, ended, ...times, stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (program.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (program.stderr += text));
    return program;
  }

  /** Starts a server. Resolves once it accepts plants, or has ended. */
  async start({ isSecond = false } = {}): Promise<Program> {
    const { handlerMs, shutdownMs } = this.plan;
    const limits = `--handler-timeout-ms ${handlerMs} --shutdown-timeout-ms ${shutdownMs}`;
    const fixed = `--port 0 --health-port 0 --metrics on --log json ${limits}`.split(' ');
    const server = this.#spawn([...fixed, '--tokens-file', this.tokensFile]);
    this.servers.push(server);
    if (!isSecond) this.server = server;
    while (server.url === undefined && server.to === Infinity && now() - server.from < limitMs) {
      await sleep(20);
      const [line = '{}'] = /^\{.*"accepting plants.*\}$/m.exec(server.stdout) ?? [];
      Object.assign(server, JSON.parse(line) as Partial<Program>);
    }
    return server;
  }

  /** Starts a server, if none runs. */
  async startAgain(): Promise<void> {
    if (this.server === undefined || this.server.to < Infinity) await this.start();
  }

  /** Ends the server, if one runs: kills it, or sends a signal, maybe again after a time. */
  async end(how: Ending | '', againMs?: number): Promise<void> {
    const { server } = this;
    if (how === '' || server === undefined || server.to < Infinity) return;
    if (how === 'kill') return this.kill();
    server.ending = how;
    server.endingAt = now();
    server.child.kill(how === 'SIGINT' ? how : 'SIGTERM');
    if (how === 'SIGTERM twice') void sleep(againMs).then(() => server.child.kill());
    const limit = sleep(this.plan.shutdownMs + limitMs, 'hangs', { ref: false });
    const isHanging = (await Promise.race([server.ended, limit])) === 'hangs';
    this.compare('a stop ends', !isHanging, server.stdout.slice(-200));
    if (isHanging) await this.kill();
    server.walSize = this.store.walSize();
  }

  async kill(program = this.server): Promise<void> {
    if (program === undefined || program.to < Infinity) return;
    program.ending = 'kill';
    program.endingAt = Math.min(program.endingAt, now());
    program.child.kill('SIGKILL');
    await program.ended;
  }

  /** Runs a command to its end, or kills it. */
  async command(args: readonly string[], input = '', killAfterMs = 0): Promise<Program> {
    const command = this.#spawn(args);
    const timer = setTimeout(() => void this.kill(command), killAfterMs || limitMs);
    command.child.stdin.on('error', () => {}).end(input);
    await command.ended;
    clearTimeout(timer);
    this.commands.push(command);
    if (killAfterMs === 0) this.compare('a command ends', !command.ending, args.join(' '));
    return command;
  }

  /** Exports, and records the plants of the output if it claims to be complete. */
  async export(): Promise<void> {
    const { child, from, to, stdout, stderr } = await this.command(['export']);
    if (child.exitCode !== 0) return;
    const lines = stdout.split('\n').slice(0, -1);
    const plants = lines.map((line): [string, string] => {
      const { name, tag } = JSON.parse(line) as { name: string; tag?: string };
      return [/"id":(-?\d+)/.exec(line)?.[1] ?? '', textOf(name, tag)];
    });
    const rows = new Map(plants);
    const said = countIn(stderr);
    const isExact = said === rows.size && said === lines.length;
    const found = `said ${said}, ${lines.length} lines, ${rows.size} ids`;
    this.compare('an export has each plant once', isExact, found);
    this.readings.push({ name: 'export', from, to, disk: { rows } });
  }

  /** Returns a plant as JSON. */
  lineOf(id: string, text: string): string {
    const [name, tag] = JSON.parse(text) as [string, string | null];
    return JSON.stringify({ id: 0, name, tag: tag ?? undefined }).replace('0', id);
  }

  freshId(): string {
    this.#lastId += 1n;
    const { hasAscendingIds } = this.plan;
    const id = hasAscendingIds ? this.#lastId : this.#lastId * 0x9e3779b97f4a7c15n;
    return String(BigInt.asIntN(64, id));
  }

  /** Starts the clients. */
  load(): void {
    for (let client = 0; client < this.plan.clients; client += 1)
      this.#clients.push(this.#create());
    this.#clients.push(this.#probe());
  }

  async #create(): Promise<void> {
    const { random } = this;
    const long = 'L'.repeat(this.plan.isBig ? 20_000 + random.below(60_000) : 300);
    const names = ['', 'Aloë 🌵', 'e\u0301', 'a"b\\c\n', long];
    while (this.#isLoading) {
      const kind = random.below(20);
      const earlier = random.of(this.sent);
      if (this.server?.url === undefined || this.server.to < Infinity) await sleep(20);
      else if (kind < 10)
        await this.create(this.freshId(), textOf(random.of(names), random.of([null, '', 'tag'])));
      else if (kind < 13 && earlier !== undefined) {
        await this.create(earlier.id, earlier.text);
      } else if (kind < 17)
        await this.create(random.of(contested), textOf(random.of(['one', 'two'])));
      else await this.create(this.freshId(), textOf('leaves'), random.below(6));
      await sleep(5 + random.below(60));
    }
  }

  /** Asks again and again whether the server is ready, and creates a plant right after it. */
  async #probe(): Promise<void> {
    for (; this.#isLoading; await sleep(250)) {
      const { server } = this;
      const from = now();
      const ready = server?.url === undefined ? undefined : (await this.get('/readyz')).status;
      const ms = now() - from;
      if (ready === undefined || server !== this.server || server?.to !== Infinity) continue;
      this.probes.push({ ready, ms, created: await this.create(this.freshId(), textOf('probe')) });
    }
  }

  /** Creates a plant; the client disconnects after a time. Resolves once the request has ended. */
  async create(id: string, text: string, leavesAfterMs?: number): Promise<Sent> {
    const { server } = this;
    if (server?.url === undefined) throw new Error('no server accepts plants');
    const sent: Sent = {
      requestId: `truth-${this.plan.seed}-${this.sent.length}`,
      id,
      text,
      server,
      leaves: leavesAfterMs !== undefined,
      from: now(),
      to: Infinity,
    };
    this.sent.push(sent);
    const { requestId } = sent;
    const headers = {
      Authorization: 'Bearer truth-token-0',
      'Content-Type': 'application/json',
      'X-Request-Id': requestId,
    };
    const body = this.lineOf(id, text);
    const signal = AbortSignal.timeout(leavesAfterMs ?? 2 * limitMs);
    try {
      const response = await fetch(server.url, { method: 'POST', headers, body, signal });
      sent.json = (await response.json()) as NonNullable<Sent['json']>;
      sent.status = response.status;
    } catch {
      // Without a response. The statements say whether it may be missing.
    }
    sent.to = now();
    return sent;
  }

  /** Reads a page of the health server, whose status is `undefined` without a response. */
  async get(path: string): Promise<{ readonly status?: number; readonly text: string }> {
    return fetch(`${this.server?.health}${path}`).then(
      async (response) => ({ status: response.status, text: await response.text() }),
      () => ({ text: '' }),
    );
  }

  /** Waits until creates succeed, asks the commands, stops, and reads the disk. */
  async finish(): Promise<void> {
    await this.startAgain();
    const from = now();
    let recovered: Sent | undefined;
    while (this.server?.url !== undefined && recovered?.status !== 200 && now() - from < limitMs) {
      await sleep(recovered && 250);
      recovered = await this.create(this.freshId(), textOf('recovered'));
    }
    const found = `${recovered?.status} ${this.server?.stdout.slice(-600)}${this.server?.stderr}`;
    this.compare('creates succeed again after the last act', recovered?.status === 200, found);
    this.#isLoading = false;
    await Promise.all(this.#clients);
    if (recovered?.status === 200) await this.#askAtRest();
    await this.end('SIGTERM');
    const disk = await this.store.read();
    this.readings.push({ name: 'disk', from: now(), to: now(), disk });
  }

  /** What is said while nothing changes must be exact. */
  async #askAtRest(): Promise<void> {
    const from = now();
    let isReady = false;
    // Requests whose client has disconnected may not have ended.
    while (!isReady && now() - from < limitMs) {
      await sleep(100);
      this.metrics = (await this.get('/metrics')).text;
      isReady =
        /^plantstore_plants_waiting 0$/m.test(this.metrics) &&
        (await this.get('/readyz')).status === 200;
    }
    this.compare('a server that creates plants is ready', isReady, '');
    this.compare('a server is alive', (await this.get('/livez')).status === 200, '');
    this.metrics = (await this.get('/metrics')).text;
    this.walSize = this.store.walSize();
    const { rows, damage } = await this.store.read();
    const [{ child, stdout, stderr }] = await Promise.all([this.command(['check']), this.export()]);
    const isExact = child.exitCode === 0 && countIn(stdout) === rows.size && damage === undefined;
    const found = `${stdout}${stderr}; the disk has ${rows.size}, ${damage}`;
    this.compare('a check counts the plants of a sound database', isExact, found);
  }

  async dispose(): Promise<void> {
    this.#isLoading = false;
    for (const server of this.servers) {
      server.child.kill('SIGCONT');
      await this.kill(server);
    }
    await this.store.dispose();
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Returns the number of plants that a text names first; `NaN` if it names none. */
function countIn(text: string): number {
  const [, count] = /(\d+) plants?/.exec(text) ?? [];
  return Number(count);
}
