import { X509Certificate } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';
import { join } from 'node:path';
import { text as textIn } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { makeCertificate } from '@plantstore/test-support/certificate';
import { type ProgramProcess, bin, spawnProgram, untilOutput } from '../black-box/program.ts';
import { type Disk, type Store, textOf } from './store.ts';

/** What ends a server; an empty text is nothing. */
export type Ending = '' | 'SIGKILL' | 'SIGTERM' | 'SIGINT' | 'SIGTERM twice';

/** A process of the program: a server or a command. */
export type Program = ProgramProcess & {
  readonly args: readonly string[];
  readonly from: number;
  /** When all of its output was read. */
  to: number;
  /** What has ended it, and since when. */
  ending?: Ending;
  endingAt: number;
  /** Of a server: its URL, that of its health, and the size of the WAL file after its end. */
  url?: string;
  health?: string;
  walSize?: number;
};

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

/** Something that can cause failures. It begins between two moments, and ends so. */
type Cause = Record<'from' | 'begunAt' | 'endsAt' | 'to', number> & { names: readonly string[] };

/** Plants that were read: each acknowledged before `from`, none that was sent after `to`. */
type Reading = Disk & { readonly name: string; readonly from: number; readonly to: number };

/** What `/livez` and `/readyz` said in how many milliseconds, and a create right after it. */
type Probe = { readonly live: number; readonly ready: number; ms: number; readonly created: Sent };

/** What takes longer hangs. */
const limitMs = 60_000;
const contested = ['0', '1', '2', '3', '-1', String(2n ** 53n + 1n), String(-(2n ** 63n))];
const certificates = Promise.all([makeCertificate(), makeCertificate()]);

/** Variables of the shell commands. */
const shellVariables = {
  NODE: process.execPath,
  RENEW_TOKENS: `n=$(($(cat $ROOT/tokens | wc -l) % 4))
    for i in $(seq 0 $n); do echo truth-token-$i; done > $ROOT/new; mv $ROOT/new $ROOT/tokens`,
  RENEW_TLS: 'cp $ROOT/new-key $ROOT/key; cp $ROOT/new-cert $ROOT/cert',
};

export const now = () => performance.now();

/** A server, clients that create plants, and a record of what was done and said. */
export class World {
  readonly servers: Program[] = [];
  readonly commands: Program[] = [];
  readonly sent: Sent[] = [];
  readonly readings: Reading[] = [];
  readonly causes: Cause[] = [];
  readonly probes: Probe[] = [];
  /** Statements that were compared at once. */
  readonly compared: { statement: string; isTrue: boolean; what: string }[] = [];
  /** Plants, as id and text, that were written without the server. */
  readonly written = new Set<string>();
  /** `/metrics` at the end, without creates, and the size of the WAL file. */
  metrics = { body: '', walSize: 0 };
  /** Plants that were sent before are no longer required: the operator has removed them. */
  lostAt = -Infinity;
  server: Program | undefined;
  readonly root: string;
  readonly store: Store;
  readonly handlerMs: number;
  readonly shutdownMs: number;
  readonly serverArgs: readonly string[];
  readonly #clients: Promise<void>[] = [];
  #isLoading = true;
  #lastId = 1_000n;

  constructor(seed: number, root: string, store: Store) {
    [this.root, this.store] = [root, store];
    [this.handlerMs, this.shutdownMs] = seed % 2 === 0 ? [2_000, 1_500] : [6_000, 4_000];
    const limits = `--handler-timeout-ms ${this.handlerMs} --shutdown-timeout-ms ${this.shutdownMs}`;
    const files = `--tokens-file tokens${seed % 3 === 0 ? ' --tls-cert cert --tls-key key' : ''}`;
    const args = `--port 0 --health-port 0 --metrics on --log json ${limits} ${files}`;
    this.serverArgs = args.split(' ');
  }

  compare(statement: string, isTrue: boolean, what = ''): void {
    this.compared.push({ statement, isTrue, what });
  }

  /** Variables of shell commands. */
  get variables() {
    const PID = this.isUp ? String(this.server?.process.pid) : '';
    return { ...shellVariables, ...this.store.variables, ROOT: this.root, PID };
  }

  get isUp(): boolean {
    return this.server?.url !== undefined && this.server.to === Infinity;
  }

  get walSize(): number {
    return statSync(`${this.store.variables.DB}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Starts the program without the privileges of root, which ignore the modes of files. */
  #spawn(args: readonly string[]): Program {
    const { store, root: cwd } = this;
    const env = { ...store.env, PLANTSTORE_DATABASE: store.database };
    const drop = [
      'setpriv',
      '--bounding-set=-all',
      '--inh-caps=-all',
      process.execPath,
      bin,
    ] as const;
    const command = process.geteuid?.() === 0 ? { command: drop } : {};
    const started = spawnProgram({ ...command, args, cwd, env }, () => {});
    const program: Program = { ...started, args, from: now(), to: Infinity, endingAt: Infinity };
    void started.exited.then(() => (program.to = now()));
    return program;
  }

  /** Starts a server. Resolves once it accepts plants, or has ended. */
  async start(isSecond = false): Promise<Program> {
    const server = this.#spawn(this.serverArgs);
    this.servers.push(server);
    if (!isSecond) this.server = server;
    const first = /^\{.*"accepting plants.*\}$/m;
    await untilOutput(server, (stdout) => first.test(stdout)).catch(() => {});
    const [line = '{}'] = first.exec(server.stdout()) ?? [];
    Object.assign(server, JSON.parse(line) as Pick<Program, 'url' | 'health'>);
    this.compare('a start ends', server.url !== undefined || server.to < Infinity);
    return server;
  }

  /** Starts a server, if none runs. */
  async startAgain(): Promise<void> {
    if (this.server === undefined || this.server.to < Infinity) await this.start();
  }

  /** Ends the server, if one runs. */
  async end(how: Ending): Promise<void> {
    const { server } = this;
    if (how === '' || server === undefined || server.to < Infinity) return;
    if (how === 'SIGKILL') return this.kill(server);
    Object.assign(server, { ending: how, endingAt: now() });
    server.process.kill(how === 'SIGINT' ? how : 'SIGTERM');
    if (how === 'SIGTERM twice') setTimeout(() => server.process.kill(), oneOf([0, 5, 30, 200]));
    const isEnded = await endsWithin(server, this.shutdownMs + limitMs);
    this.compare('a stop ends', isEnded, server.stdout().slice(-200));
    if (!isEnded) await this.kill(server);
    server.walSize = this.walSize;
  }

  async kill(program: Program): Promise<void> {
    if (program.to < Infinity) return;
    const endingAt = Math.min(program.endingAt, now());
    Object.assign(program, { ending: 'SIGKILL', endingAt });
    program.process.kill('SIGKILL');
    await program.exited;
  }

  /** Runs a command to its end, or kills it. */
  async command(args: readonly string[], killAfterMs = 0): Promise<Program> {
    const command = this.#spawn(args);
    const isEnded = await endsWithin(command, killAfterMs || limitMs);
    if (killAfterMs === 0) this.compare('a command ends', isEnded, args.join(' '));
    await this.kill(command);
    this.commands.push(command);
    return command;
  }

  /** Exports, and records the plants of the output if it claims to be complete. */
  async export(): Promise<void> {
    const { process: ended, from, to, stdout, stderr } = await this.command(['export']);
    if (ended.exitCode !== 0) return;
    const lines = stdout().split('\n').slice(0, -1);
    const plants = lines.map((line): [string, string] => {
      const { name, tag } = JSON.parse(line) as { name: string; tag?: string };
      return [/"id":(-?\d+)/.exec(line)?.[1] ?? '', textOf(name, tag)];
    });
    const rows = new Map(plants);
    const counts = [countIn(stderr()), lines.length, rows.size];
    this.compare('an export has each plant once', new Set(counts).size === 1, counts.join());
    this.readings.push({ name: 'export', from, to, rows });
  }

  freshId(): string {
    this.#lastId += 1n;
    return String(BigInt.asIntN(64, this.#lastId * oneOf([1n, 0x9e3779b97f4a7c15n])));
  }

  /** Starts the clients. */
  load(): void {
    this.#clients.push(this.#probe(), ...Array.from({ length: 4 }, async () => this.#create()));
  }

  async #create(): Promise<void> {
    const names = ['', 'Aloë 🌵', 'e\u0301', 'a"b\\c\n', 'L'.repeat(300), 'L'.repeat(60_000)];
    while (this.#isLoading) {
      await sleep(Math.random() * 60);
      const [kind, earlier] = [Math.random(), oneOf(this.sent)];
      const text = textOf(oneOf(names), oneOf([null, '', 'tag']));
      if (!this.isUp) await sleep(20);
      else if (kind < 0.5) await this.create(this.freshId(), text);
      else if (kind < 0.65 && earlier) await this.create(earlier.id, earlier.text);
      else if (kind < 0.85) await this.create(oneOf(contested), textOf(oneOf(['one', 'two'])));
      else await this.create(this.freshId(), textOf('leaves'), oneOf([0, 1, 3, 6]));
    }
  }

  /** Asks again and again whether the server is ready, and creates a plant right after it. */
  async #probe(): Promise<void> {
    for (; this.#isLoading; await sleep(200)) {
      const { server, isUp } = this;
      if (!isUp) continue;
      const from = now();
      const live = await this.get('/livez');
      const ready = await this.get('/readyz');
      const ms = now() - from;
      if (server !== this.server || !this.isUp) continue;
      const created = await this.create(this.freshId(), textOf('probe'));
      this.probes.push({ live: live.status, ready: ready.status, ms, created });
    }
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

  async #post(body: string, token: number, requestId?: string, timeoutMs = limitMs) {
    const headers = {
      Authorization: `Bearer truth-token-${token}`,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'X-Request-Id': requestId ?? 'at rest',
    };
    // At rest, a new connection shows the certificate.
    const agent = requestId === undefined ? { agent: false as const } : {};
    const signal = AbortSignal.timeout(timeoutMs);
    return send(this.server?.url, { ...agent, signal, method: 'POST', headers }, body);
  }

  async get(path: string) {
    return send(`${this.server?.health}${path}`, { agent: false });
  }

  /** Waits until creates succeed, asks the commands, stops, and reads the disk. */
  async finish(): Promise<void> {
    await this.startAgain();
    const isRecovered = await isTrueSoon(async () => {
      const { status } = await this.create(this.freshId(), textOf('recovered'));
      return status === 200 || !this.isUp;
    });
    const what = `${this.server?.stdout().slice(-900)}${this.server?.stderr()}`;
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
    // Requests whose client has disconnected may not have ended.
    const isReady = await isTrueSoon(async () => {
      const isIdle = /^plantstore_plants_waiting 0$/m.test((await this.get('/metrics')).body);
      return isIdle && (await this.get('/readyz')).status === 200;
    });
    this.compare('a server that creates plants is ready', isReady);
    const { body } = await this.get('/metrics');
    this.metrics = { body, walSize: this.walSize };
    const { rows, damage } = await this.store.read();
    const [check] = await Promise.all([this.command(['check']), this.export()]);
    const said = `${check.stdout()}${check.stderr()}`;
    const isExact = check.process.exitCode === 0 && countIn(said) === rows.size && !damage;
    this.compare('a check counts the plants of a sound database', isExact, `${said}, ${rows.size}`);
  }

  /** Writes the tokens, and the certificates and their keys. */
  async prepare(): Promise<void> {
    const write = (name: string, text: string) => writeFileSync(join(this.root, name), text);
    write('tokens', 'truth-token-0\n');
    for (const [index, { cert, key }] of (await certificates).entries())
      for (const prefix of index === 0 ? ['', 'new-'] : ['new-']) {
        write(`${prefix}cert`, cert);
        write(`${prefix}key`, key);
      }
  }

  /** Whether the server accepts just the tokens of its file, and shows its certificate. */
  async #usesFiles(): Promise<boolean> {
    const read = (name: string) => readFileSync(join(this.root, name), 'utf8');
    const count = read('tokens').trim().split('\n').length;
    const [last, next] = [await this.#post('', count - 1), await this.#post('', count)];
    const isShown = !last.shown || new X509Certificate(read('cert')).raw.equals(last.shown);
    return last.status === 400 && next.status === 401 && isShown;
  }

  async dispose(): Promise<void> {
    this.#isLoading = false;
    for (const server of this.servers) await this.kill(server);
    await this.store.dispose();
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Returns a plant as JSON. */
export function lineOf(id: string, text: string): string {
  const [name, tag] = JSON.parse(text) as [string, string | null];
  return JSON.stringify({ id: 0, name, tag: tag ?? undefined }).replace('0', id);
}

/** Sends a request. The status is 0 without a complete response. */
async function send(url = '', options: http.RequestOptions = {}, sent = '') {
  try {
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    const { request } = url.startsWith('https:') ? https : http;
    request(url, { ...options, rejectUnauthorized: false }, resolve)
      .on('error', reject)
      .end(sent);
    const response = await promise;
    const shown = (response.socket as Partial<TLSSocket>).getPeerCertificate?.().raw;
    return { status: response.statusCode ?? 0, body: await textIn(response), shown };
  } catch {
    return { status: 0, body: '', shown: undefined };
  }
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
