// Programs in processes of their own that use the built packages, as users do: without the condition
// that leads to the sources, however the benchmark itself was started.
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A program that answers what it is asked, one question at a time. */
export type Alone = {
  readonly process: ChildProcess;
  readonly ask: <T>(question: unknown) => Promise<T>;
  readonly stop: () => Promise<void>;
};

/** Builds the packages where the last build no longer fits. */
export const buildIfStale = (): void => {
  execFileSync(process.execPath, ['scripts/build.mjs', '--if-stale'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
};

/** Installs what is compared with; the default install goes without it. */
export const installCompared = (): void => {
  const install = ['install', '--ignore-workspace', '--frozen-lockfile', '--dir', 'bench/compare'];
  execFileSync('npx', ['-y', 'pnpm@12', ...install], { cwd: root, stdio: 'pipe' });
};

/** Starts one of this folder's programs. */
export const startAlone = (program: string, execArgv: readonly string[] = []): Alone => {
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), {
    execArgv: [...execArgv],
    env: { PATH: process.env['PATH'], NODE_ENV: 'production' },
    serialization: 'advanced',
  });
  const gone = once(child, 'exit').then(() => {
    throw new Error(`${program} ended early`);
  });
  gone.catch(() => {});
  return {
    process: child,
    async ask<T>(question: unknown) {
      const answered = once(child, 'message');
      child.send(question as object);
      const [answer] = (await Promise.race([answered, gone])) as [T];
      return answer;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    },
  };
};
