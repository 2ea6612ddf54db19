import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { requiresPosix } from '@plantstore/test-support/requires';
import { expect, it } from 'vitest';
import { openSqliteRepository } from './repository.ts';

const program = fileURLToPath(new URL('../test/open-each-way.ts', import.meta.url));

const matching = (text: RegExp) => expect.stringMatching(text) as unknown;

const runIn = async (cwd: string, file: string, args: readonly string[]) => {
  const { stdout } = await promisify(execFile)(file, args, { cwd });
  return JSON.parse(stdout) as unknown;
};

it('a process that may not start a thread gets an error from each function, and no exception', async () => {
  const permissions = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*'];
  const noThread = matching(/^unexpected: .*--allow-worker/);
  const args = [...permissions, program, 'plants.db'];
  expect(await runIn(await makeFolder(), process.execPath, args)).toEqual({
    start: noThread,
    check: matching(/^missing/),
    backup: matching(/^missing/),
  });
});

it(
  'a relative path in a removed working directory gets an error from each function, and no exception',
  requiresPosix,
  async () => {
    const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
    const error = matching(/^cannot-open: .*uv_cwd/);
    const args = ['-c', script, 'sh', process.execPath, program, 'plants.db'];
    expect(await runIn(await makeFolder(), 'sh', args)).toEqual({
      start: error,
      check: error,
      backup: error,
    });
  },
);

it(
  'an absolute path in a removed working directory gets an error from each function, and no exception',
  requiresPosix,
  async () => {
    const folder = await makeFolder();
    const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
    const error = matching(/^unexpected: .*uv_cwd/);
    const args = ['-c', script, 'sh', process.execPath, program, `${folder}/plants.db`];
    const check = matching(/^missing/);
    expect(await runIn(folder, 'sh', args)).toEqual({ start: error, check, backup: check });
  },
);

it('a path in place of the options is an exception that names the option', () => {
  const options: unknown = 'plants.db';
  expect(() => openSqliteRepository(options as { path: string })).toThrow(
    "a path must be a string, as in 'plants.db'",
  );
});
