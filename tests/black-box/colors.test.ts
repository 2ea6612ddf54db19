import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { requiresLinux } from '@plantstore/test-support/requires';
import { expect, it } from 'vitest';
import { bin } from './program.ts';

/** The first line of a server on a terminal, which `script` of util-linux makes. */
const firstLine = async (env: Readonly<Record<string, string>>): Promise<string> => {
  const program = `${process.execPath} ${bin} --database memory: --port 0`;
  const server = spawn('script', ['--quiet', '--return', '--command', program, '/dev/null'], {
    env: { PATH: process.env['PATH'], TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(server, 'close');
  let text = '';
  server.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  while (!/pid=\d+[^\n]*\n/.test(text)) await once(server.stdout, 'data');
  // The server itself: it ignores the SIGHUP of a terminal that closes.
  process.kill(Number(/pid=(\d+)/.exec(text)?.[1]), 'SIGTERM');
  await ended;
  return text;
};

// It uses the arguments that script has on Linux.
it('the log has colours on a terminal, unless NO_COLOR is set', requiresLinux, async () => {
  expect(await firstLine({})).toContain('\u001B[');
  expect(await firstLine({ NO_COLOR: '1' })).not.toContain('\u001B[');
  expect(await firstLine({ NO_COLOR: '' })).toContain('\u001B[');
});
