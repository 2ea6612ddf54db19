/**
 * Ends the process with status 1, also while a thread waits for a sync of the disk, for which
 * `process.exit` waits. The kernel ends all threads when a process executes another program.
 */
export function endAtOnce(): never {
  const { env, execPath, pid } = process;
  if (process.execve !== undefined && process.platform !== 'win32')
    process.execve(execPath, [execPath, '--eval', 'process.exit(1)'], { ...env, NODE_OPTIONS: '' });
  // On Windows, the status is 1, too.
  process.kill(pid, 'SIGKILL');
  throw new Error('the process is ending');
}
