import { mayMount, smallDiskCommand } from '@plantstore/test-support/small-disk';
import { expect, it } from 'vitest';
import { bin, newFolder, post, startProgram } from './program.ts';

it('a server that stops on a full disk warns that its newest plants are only in the WAL file', async ({
  skip,
}) => {
  const folder = await newFolder();
  skip(!(await mayMount(folder)), 'this user cannot mount a small disk');
  const server = await startProgram({
    command: smallDiskCommand(folder, [process.execPath, bin]),
    args: ['--database', `sqlite:${folder}/plants.db`],
  });
  const name = 'x'.repeat(10_000);
  let id = 0;
  while ((await post(server.url, JSON.stringify({ id, name }))).status === 200) id += 1;
  expect(await post(server.url, JSON.stringify({ id, name }))).toEqual({
    status: 503,
    error: 3503,
  });
  server.process.kill('SIGTERM');
  expect(await server.exited).toBe(0);
  const lines = server
    .stdout()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.slice(-2)).toMatchObject([
    {
      level: 'warn',
      wal: `${folder}/plants.db-wal`,
      message: expect.stringContaining('keep it together with the database') as unknown,
    },
    { level: 'info', message: 'stopped' },
  ]);
});
