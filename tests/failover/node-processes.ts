import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A running process; zombies are excluded. */
export type Process = { readonly pid: number; readonly parent: number; readonly args: string };

const everyProcess = async (): Promise<Process[]> => {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,stat=,args='], {
    maxBuffer: 64 * 1_024 * 1_024,
  });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, state = 'Z', args = ''] =
      /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return state.startsWith('Z') ? [] : [{ pid: Number(pid), parent: Number(parent), args }];
  });
};

/**
 * Returns every process of a node, parents first: the processes with its folder in their arguments (PostgreSQL is
 * not a child of Patroni), and their descendants.
 */
export const processesOf = async (folder: string): Promise<Process[]> => {
  const all = await everyProcess();
  const found = all.filter(({ args }) => args.includes(`${folder}/`));
  // The array grows during the iteration.
  for (const { pid } of found) {
    found.push(...all.filter((one) => one.parent === pid && !found.includes(one)));
  }
  return found;
};

/** Sends a signal to processes; ignores processes that have exited. */
export const signal = (processes: readonly Process[], name: NodeJS.Signals): void => {
  for (const { pid } of processes) {
    try {
      process.kill(pid, name);
    } catch (thrown) {
      if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')) throw thrown;
    }
  }
};

/** Kills every process of a node, which simulates a power cut. */
export const killNode = async (folder: string): Promise<void> => {
  for (;;) {
    const processes = await processesOf(folder);
    if (processes.length === 0) return;
    signal(processes, 'SIGKILL');
    await sleep(50);
  }
};

/** Suspends every process of a node, which simulates a paused virtual machine. */
export const suspendNode = async (folder: string): Promise<void> => {
  // Twice, for a child that was started while the first list was created.
  for (const _ of ['once', 'again']) signal(await processesOf(folder), 'SIGSTOP');
};
