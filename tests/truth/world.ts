import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { bin, neededVariables } from '../black-box/program.ts';
import { createRandom, type Plan } from './plan.ts';
import { type Disk, type Rows, type Store, textOf } from './stores.ts';

const now = () => performance.now();

/** Something that can cause failures, from a moment to another one. */
type Cause = { readonly names: readonly string[]; readonly from: number; to: number };

/** A process of the server, from its start to its end. */
export type Life = {
  readonly number: number;
  readonly child: ChildProcessWithoutNullStreams;
  readonly agent: Agent;
  readonly from: number;
  readonly exited: Promise<unknown>;
  to: number;
  log: string;
  stderr: string;
  url?: string;
  health?: string;
  /** Size of the WAL file right after the end. */
  walSize?: number;
  /** What the operator has done to end it. */
  ending?: 'kill' | 'stop' | 'stop-twice';
  endingAt: number;
};

/** A request, and its response if it had one. */
export type Sent = {
  readonly requestId: string;
  readonly body: string;
  readonly life: Life;
  readonly from: number;
  /** Of a create: its id, and the text of its plant. */
  readonly id?: string;
  readonly text?: string;
  /** Whether the client disconnects. */
  readonly leaves?: boolean;
  /** Whether the connection had served a request before. */
  isReused: boolean;
  to: number;
  status?: number | undefined;
  json?: { readonly error?: number; readonly name?: string; readonly tag?: string };
};

/** A command of the program that has ended. */
export type Command = {
  readonly args: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly status: number | null;
  readonly isKilled: boolean;
  readonly stdout: string;
  readonly stderr: string;
};

/** Plants that were read: each that was acknowledged before `from` must be there, each that was sent before `to` can be. */
export type Reading = {
  readonly name: 'disk' | 'export' | 'backup';
  readonly from: number;
  readonly to: number;
  readonly disk: Disk;
};

/** What `/readyz` said, and a create right after it. */
export type Probe = { readonly from: number; readonly ready: number; readonly created: Sent };

/** What takes longer hangs. */
const limitMs = 60_000;

/** Ids of plants that clients compete for. */
const contested = [0n, 1n, 2n, 3n, 4n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)];

/** A store with a server, clients that create plants, and a record of what everything said. */
export class World<S extends Store = Store> {
  readonly sent: Sent[] = [];
  readonly lives: Life[] = [];
  readonly commands: Command[] = [];
  readonly readings: Reading[] = [];
  readonly probes: Probe[] = [];
  /** Statements that an act has compared itself. */
  readonly compared: { readonly name: string; readonly isTrue: boolean; readonly what: string }[] =
    [];
  /** The texts of plants by id that were written without the server. */
  readonly written = new Map<string, Set<string>>();
  /** The numbers of tokens that the tokens file had. */
  readonly tokens: number[] = [1];
  /** `/metrics` at the end, without creates, and the size of the WAL file. */
  metrics?: string;
  walSize = 0;
  /** Whether creates succeeded again after the last act. */
  recovered?: Sent | undefined;
  /** Acknowledged plants before this moment are no longer required, because the operator has removed them. */
  lostAt = -Infinity;
  life: Life | undefined;
  readonly random: ReturnType<typeof createRandom>;
  readonly #causes: Cause[] = [];
  readonly #background: Promise<void>[] = [];
  readonly #clients: Promise<void>[] = [];
  readonly tokensFile: string;
  readonly #lag: NodeJS.Timeout;
  #isLoading = true;
  #nextId: bigint;
  #count = 0;
  readonly plan: Plan;
  readonly root: string;
  readonly store: S;

  constructor(plan: Plan, root: string, store: S) {
    this.plan = plan;
    this.root = root;
    this.store = store;
    this.random = createRandom(plan.seed ^ 0x5bd1e995);
    this.#nextId = 1_000n + BigInt(plan.seed % 1_000) * 100_000n;
    this.tokensFile = join(root, 'tokens');
    this.setTokens(1);
    this.#lag = this.#watchLag();
  }

  /** On a busy machine, a pause of this process is a cause of timeouts. */
  #watchLag(): NodeJS.Timeout {
    let last = now();
    return setInterval(() => {
      const at = now();
      if (at - last > 300) this.#causes.push({ names: ['slow'], from: last - 500, to: at + 1_500 });
      last = at;
    }, 50);
  }

  /** Begins a cause; what it returns ends it. */
  begin(...names: readonly string[]): () => void {
    const cause = { names, from: now(), to: Infinity };
    this.#causes.push(cause);
    return () => void (cause.to = Math.min(cause.to, now()));
  }

  /** Names of what could cause a failure in a time, or shortly before it. */
  causesIn(from: number, to: number, graceMs = 4_000): string[] {
    const found = this.#causes.filter((one) => one.from <= to && one.to + graceMs >= from);
    return [...new Set(found.flatMap(({ names }) => names))];
  }

  /** Whether nothing began or ended in a time that can cause a failure. */
  isQuiet(from: number, to: number): boolean {
    const isIn = (moment: number) => moment >= from && moment <= to;
    return !this.#causes.some((one) => isIn(one.from) || isIn(one.to));
  }

  /** Does a task while other acts begin. */
  inBackground(act: string, task: Promise<void>): void {
    const failed = (thrown: unknown) =>
      this.compare('an act ends', false, `${act}: ${inspect(thrown)}`);
    this.#background.push(task.catch(failed));
  }

  /** Writes so many tokens. */
  setTokens(count: number): void {
    const lines = Array.from({ length: count }, (_, index) => `truth-token-${index}\n`);
    writeFileSync(`${this.tokensFile}.new`, lines.join(''));
    renameSync(`${this.tokensFile}.new`, this.tokensFile);
    this.tokens.push(count);
  }

  write(id: string, text: string): void {
    this.written.set(id, (this.written.get(id) ?? new Set()).add(text));
  }

  /** Records that the plants of a file are now the only ones that are required. */
  replaceWith(rows: Rows): void {
    this.lostAt = now();
    for (const [id, text] of rows) this.write(id, text);
  }

  /** Starts the program with its files, without the privileges of root, which ignore the modes of files. */
  #spawn(args: readonly string[]): ChildProcessWithoutNullStreams {
    const drop = ['setpriv', '--bounding-set=-all', '--inh-caps=-all'];
    const prefix = process.geteuid?.() === 0 ? drop : [];
    const [command = '', ...rest] = [...prefix, process.execPath, bin, ...args];
    const env = {
      ...neededVariables(),
      ...this.store.env,
      PLANTSTORE_DATABASE: this.store.database,
    };
    return spawn(command, rest, { cwd: this.root, env });
  }

  /** Starts a server. Resolves once it accepts plants, or has ended. */
  async start({ isSecond = false } = {}): Promise<Life> {
    const number = this.lives.length;
    const { handlerMs, shutdownMs } = this.plan;
    const limits = `--handler-timeout-ms ${handlerMs} --shutdown-timeout-ms ${shutdownMs}`;
    const fixed = `--port 0 --health-port 0 --metrics on --log json ${limits}`.split(' ');
    const child = this.#spawn([...fixed, '--tokens-file', this.tokensFile]);
    // All output has been read then.
    const exited = once(child, 'close').then(() => (life.to = now()));
    const life: Life = {
      number,
      child,
      log: '',
      stderr: '',
      agent: new Agent({ keepAlive: true }),
      from: now(),
      exited,
      to: Infinity,
      endingAt: Infinity,
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (life.log += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (life.stderr += text));
    this.lives.push(life);
    if (!isSecond) this.life = life;
    while (life.to === Infinity && now() - life.from < limitMs) {
      const line = /^.*"accepting plants.*$/m.exec(life.log)?.[0];
      if (line?.endsWith('}') === true) {
        Object.assign(life, JSON.parse(line) as { url: string; health: string });
        break;
      }
      await sleep(20);
    }
    return life;
  }

  /** Starts a server, if none runs. */
  async startAgain(): Promise<void> {
    if (this.life === undefined || this.life.to < Infinity) await this.start();
  }

  /** Sends a signal, SIGTERM maybe again after a time or after the last line, and waits for the end. */
  async stop(signal: NodeJS.Signals = 'SIGTERM', again?: string | number): Promise<void> {
    const { life } = this;
    if (life === undefined || life.to < Infinity) return;
    life.ending = again === undefined ? 'stop' : 'stop-twice';
    life.endingAt = now();
    life.child.kill(signal);
    if (typeof again === 'string')
      life.child.stdout.on('data', () => life.log.includes('"stopped"') && life.child.kill());
    else if (again !== undefined) void sleep(again).then(() => life.child.kill());
    const limit = sleep(this.plan.shutdownMs + limitMs, 'hangs', { ref: false });
    const isHanging = (await Promise.race([life.exited, limit])) === 'hangs';
    this.compare('a stop ends', !isHanging, `server ${life.number}`);
    if (isHanging) await this.kill(life);
    life.walSize = this.#walSize();
  }

  #walSize(): number {
    const path = 'path' in this.store ? `${String(this.store.path)}-wal` : '';
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }

  async kill(life = this.life): Promise<void> {
    if (life === undefined || life.to < Infinity) return;
    life.ending = 'kill';
    life.endingAt = Math.min(life.endingAt, now());
    life.child.kill('SIGKILL');
    await life.exited;
  }

  /** Runs a command to its end, or kills it. */
  async command(args: readonly string[], input = '', killAfterMs = 0): Promise<Command> {
    const from = now();
    const child = this.#spawn(args);
    const output = { stdout: '', stderr: '' };
    let isKilled = false;
    const timer = setTimeout(() => {
      isKilled = true;
      child.kill('SIGKILL');
    }, killAfterMs || limitMs);
    child.stdin.on('error', () => {}).end(input);
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    const [status] = (await once(child, 'close')) as [number | null];
    clearTimeout(timer);
    const command = { args, from, to: now(), status, isKilled, ...output };
    this.commands.push(command);
    if (killAfterMs === 0) this.compare('a command ends', !isKilled, args.join(' '));
    return command;
  }

  compare(name: string, isTrue: boolean, what: string): void {
    this.compared.push({ name, isTrue, what });
  }

  /** Exports, and records the plants of the output if it claims to be complete. */
  async export(): Promise<void> {
    const done = await this.command(['export']);
    if (done.status !== 0) return;
    const lines = done.stdout.split('\n').slice(0, -1);
    const rows = new Map(
      lines.map((line) => {
        const { name, tag } = JSON.parse(line) as { name: string; tag?: string };
        return [/"id":(-?\d+)/.exec(line)?.[1] ?? '', textOf(name, tag)];
      }),
    );
    const said = countIn(done.stderr, 'exported');
    const isEach = said === rows.size && said === lines.length;
    const found = `said ${said}, ${lines.length} lines, ${rows.size} ids`;
    this.compare('an export has each plant once', isEach, found);
    this.readings.push({ name: 'export', from: done.from, to: done.to, disk: { rows } });
  }

  freshId(): bigint {
    this.#nextId += 1n;
    return this.plan.isAscending
      ? this.#nextId
      : BigInt.asIntN(64, this.#nextId * 0x9e3779b97f4a7c15n);
  }

  #content(): readonly [name: string, tag?: string | undefined] {
    const { random } = this;
    const long = this.plan.isBig ? ['L'.repeat(20_000 + random.below(60_000))] : [];
    const names = [
      '',
      'Aloë 🌵',
      'e\u0301',
      'x'.repeat(1 + random.below(300)),
      'a"b\\c\n',
      ...long,
    ];
    return [random.of(names), random.of([undefined, '', `t${random.below(9)}`])];
  }

  /** Starts the clients. */
  load(): void {
    for (let client = 0; client < this.plan.clients; client += 1)
      this.#clients.push(this.#client());
    this.#clients.push(this.#probe());
  }

  async #client(): Promise<void> {
    const { random } = this;
    while (this.#isLoading) {
      const chance = random.next();
      const earlier = random.of(this.sent);
      if (this.life?.url === undefined || this.life.to < Infinity) await sleep(20);
      else if (chance < 0.5) await this.create(this.freshId(), ...this.#content());
      else if (chance < 0.65 && earlier?.id !== undefined)
        await this.#send(earlier.body, { id: earlier.id, text: earlier.text ?? '' });
      else if (chance < 0.85)
        await this.create(random.of(contested), random.of(['one', 'two']), random.of(['', 't']));
      else await this.create(this.freshId(), 'leaves', undefined, random.below(6));
      await sleep(5 + random.below(60));
    }
  }

  /** Creates a plant; the client disconnects after a time. Resolves once the request has ended. */
  async create(id: bigint, name: string, tag?: string, leavesAfterMs?: number): Promise<Sent> {
    const rest = tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`;
    const body = `{"id":${id},"name":${JSON.stringify(name)}${rest}}`;
    return this.#send(body, { id: String(id), text: textOf(name, tag) }, leavesAfterMs);
  }

  async #send(
    body: string,
    about: Pick<Sent, 'id' | 'text'>,
    leavesAfterMs?: number,
  ): Promise<Sent> {
    const { life } = this;
    if (life?.url === undefined) throw new Error('no server accepts plants');
    const requestId = `truth-${this.plan.seed}-${(this.#count += 1)}`;
    const leaves = leavesAfterMs !== undefined;
    const sent: Sent = {
      requestId,
      body,
      life,
      leaves,
      ...about,
      from: now(),
      to: Infinity,
      isReused: false,
    };
    this.sent.push(sent);
    const headers = {
      Authorization: 'Bearer truth-token-0',
      'Content-Type': 'application/json',
      'X-Request-Id': requestId,
    };
    const post = request(life.url, { method: 'POST', agent: life.agent, headers });
    const timer = leaves ? setTimeout(() => post.destroy(), leavesAfterMs) : undefined;
    try {
      post.setTimeout(120_000, () => post.destroy()).end(body);
      const [response] = (await once(post, 'response')) as [import('node:http').IncomingMessage];
      const json = JSON.parse((await response.toArray()).join('')) as NonNullable<Sent['json']>;
      sent.json = json;
      sent.status = response.statusCode;
    } catch {
      // Without a response. The statements say whether it may be missing.
    }
    sent.isReused = post.reusedSocket;
    sent.to = now();
    clearTimeout(timer);
    return sent;
  }

  /** Reads a page of the health server; `undefined` if it does not respond. */
  async get(path: string): Promise<{ readonly status: number; readonly text: string } | undefined> {
    return fetch(`${this.life?.health}${path}`).then(
      async (response) => ({ status: response.status, text: await response.text() }),
      () => undefined,
    );
  }

  /** Asks again and again whether the server is ready, and creates a plant right after it. */
  async #probe(): Promise<void> {
    for (; this.#isLoading; await sleep(250)) {
      const { life } = this;
      const from = now();
      const page = life?.url === undefined ? undefined : await this.get('/readyz');
      if (page === undefined || life !== this.life || life?.to !== Infinity) continue;
      const created = await this.create(this.freshId(), 'probe');
      if (created.life === life) this.probes.push({ from, ready: page.status, created });
    }
  }

  /** Ends the acts, waits until creates succeed, asks the commands, stops, and reads the disk. */
  async finish(): Promise<void> {
    await Promise.all(this.#background);
    await this.store.heal();
    await this.startAgain();
    const from = now();
    while (this.life?.url !== undefined && now() - from < limitMs) {
      this.recovered = await this.create(this.freshId(), 'recovered');
      if (this.recovered.status === 200) break;
      await sleep(250);
    }
    this.#isLoading = false;
    await Promise.all(this.#clients);
    if (this.recovered?.status === 200) await this.#askAtRest();
    await this.stop();
    for (const life of this.lives) await life.exited;
    const disk = await this.store.read();
    this.readings.push({ name: 'disk', from: now(), to: now(), disk });
  }

  /** What is said while nothing changes must be exact. */
  async #askAtRest(): Promise<void> {
    for (let waited = 0; waited < 40; waited += 1) {
      this.metrics = (await this.get('/metrics'))?.text ?? '';
      const isSettled = /^plantstore_plants_waiting 0$/m.test(this.metrics);
      if (isSettled && (await this.get('/readyz'))?.status === 200) break;
      await sleep(500);
    }
    this.compare(
      'a server that creates plants is ready',
      (await this.get('/readyz'))?.status === 200,
      '',
    );
    this.metrics = (await this.get('/metrics'))?.text ?? '';
    this.walSize = this.#walSize();
    const { rows, damage } = await this.store.read();
    const checked = await this.command(['check']);
    const said = countIn(checked.stdout, '');
    const found = `status ${checked.status}, ${said} plants; the disk has ${rows.size}, ${damage}`;
    const isExact = checked.status === 0 && said === rows.size && damage === undefined;
    this.compare(
      'a check counts the plants of a sound database',
      isExact,
      `${found} ${checked.stderr}`,
    );
    await this.export();
  }

  async dispose(): Promise<void> {
    clearInterval(this.#lag);
    this.#isLoading = false;
    for (const life of this.lives) {
      life.child.kill('SIGCONT');
      await this.kill(life);
      life.agent.destroy();
    }
    await this.store.dispose();
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Returns the number of plants that a text names before a word; `NaN` if it names none. */
function countIn(text: string, word: string): number {
  const [, count] = new RegExp(String.raw`([\d,]+|one) plants?[^,;]*${word}`).exec(text) ?? [];
  return count === 'one' ? 1 : Number(count?.replaceAll(',', '') ?? NaN);
}
