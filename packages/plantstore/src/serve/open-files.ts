import { readFile } from 'node:fs/promises';
import type { Logger } from '@plantstore/server';

/** Open files besides the connections: of Node, the store, the log and the health server. They are fewer than 50. */
const otherFiles = 100;

/** Returns the limit of open files of this process; `undefined` without a limit, and on other systems than Linux. */
const openFilesLimit = async (): Promise<number | undefined> => {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const soft = /^Max open files +(?<soft>\d+)/m.exec(limits)?.groups?.['soft'];
  return soft === undefined ? undefined : Number(soft);
};

/**
 * Logs a warning if the limit of open files allows fewer connections than `maxConnections`. Node does not report
 * that it closes the connections above it.
 */
export const warnOfFewOpenFiles = async (maxConnections: number, log: Logger): Promise<void> => {
  const limit = await openFilesLimit();
  const needed = maxConnections + otherFiles;
  if (limit === undefined || limit >= needed) return;
  log.warn(
    { limit, needed },
    'the limit of open files is too low for --max-connections, and connections above it are reset: raise it with LimitNOFILE= or ulimit -n, or lower --max-connections',
  );
};
