import { stat } from 'node:fs/promises';

export type WatchedFiles = ReturnType<typeof watchFiles>;

/** Watches files that are read together. */
export function watchFiles(...paths: readonly (string | undefined)[]) {
  let [read, seen, failed] = ['', '', ''];
  const named = paths.filter((path) => path !== undefined);
  const stateOf = async () => (await Promise.all(named.map(fileState))).join(' ');
  return {
    /** Call it before the files are read, so that a later change is seen. */
    async markRead(): Promise<void> {
      // They could be used until now, so that the next fault is a new one.
      if (read !== '') failed = '';
      read = await stateOf();
    },
    /**
     * Call it if they cannot be used, so that each look reads them again: a limit of open files, for example, changes
     * without them. Resolves to whether they or the reason are others than before, unless they changed while they were read.
     */
    async markFailed(reason: string): Promise<boolean> {
      const [state, last] = [read, failed];
      read = '';
      if ((await stateOf()) !== state) return false;
      failed = `${state} ${reason}`;
      return failed !== last;
    },
    /** Resolves to whether they differ from what was read and used, and have not changed since the last call. */
    async areRenewed(): Promise<boolean> {
      const last = seen;
      seen = await stateOf();
      return seen === last && seen !== read;
    },
  };
}

/** Returns what changes with a file, or with a link on its path. */
async function fileState(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join();
  } catch (thrown) {
    return String((thrown as NodeJS.ErrnoException).code);
  }
}
