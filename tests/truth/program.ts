import { bin, type ProgramProcess, spawnProgram, untilOutput } from '../black-box/program.ts';
import type { Store } from './store.ts';

export type Time = { readonly from: number; readonly to: number };

/** A line of the log. */
export type LogLine = Partial<Record<'level' | 'requestId' | 'cause' | 'reason', string>> &
  Partial<Record<'status' | 'error' | 'tokens', number>> & { readonly message: string };

/** A server or a command, until all of its output was read. */
export class Program {
  readonly from = performance.now();
  to = Infinity;
  status: number | null = null;
  log = '';
  errors = '';
  /** What has ended it, and since when; an empty text is nothing. */
  ending = '';
  endingAt = Infinity;
  /** Of a server: its URL, that of its health, and its log. */
  url: string | undefined;
  health: string | undefined;
  lines: readonly LogLine[] = [];
  readonly ended: Promise<void>;
  readonly #process: ProgramProcess;

  /** Starts it without the privileges of root, which ignore the modes of files. */
  constructor(args: readonly string[], { env, database }: Store, cwd: string) {
    const start = [process.execPath, bin] as const;
    const drop = ['setpriv', '--bounding-set=-all', '--inh-caps=-all', ...start] as const;
    const command = process.geteuid?.() === 0 ? drop : start;
    const options = { command, args, cwd, env: { ...env, PLANTSTORE_DATABASE: database } };
    this.#process = spawnProgram(options, () => {});
    const { exited, stdout, stderr } = this.#process;
    this.ended = exited.then((status) => {
      Object.assign(this, { status, log: stdout(), errors: stderr(), to: performance.now() });
    });
  }

  get process() {
    return this.#process.process;
  }

  get isUp(): boolean {
    return this.url !== undefined && this.to === Infinity;
  }

  /** Waits until a server accepts plants, or has ended. */
  async accepts(): Promise<void> {
    const first = /^\{.*"accepting plants.*\}$/m;
    await untilOutput(this.#process, (stdout) => first.test(stdout)).catch(() => {});
    const [line = '{}'] = first.exec(this.#process.stdout()) ?? [];
    const { url, health } = JSON.parse(line) as Partial<Program>;
    Object.assign(this, { url, health });
  }

  /** Ends it by signals. */
  async end(how: string): Promise<void> {
    if (how === '' || this.to < Infinity) return;
    Object.assign(this, { ending: how, endingAt: Math.min(this.endingAt, performance.now()) });
    const [signal, isTwice] = how.split(' ');
    this.process.kill(signal as NodeJS.Signals);
    if (isTwice) setTimeout(() => this.process.kill(), Math.random() * 100);
    await this.ended;
  }
}
