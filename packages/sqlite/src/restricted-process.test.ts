import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it } from 'vitest';
import { openSqliteRepository } from './repository.ts';

it('a process that may not start a thread gets an error from each function, and no exception', async () => {
  const program = fileURLToPath(new URL('../test/open-each-way.ts', import.meta.url));
  const permissions = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*'];
  const args = [...permissions, program, join(await makeFolder(), 'plants.db')];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(JSON.parse(stdout)).toEqual({
    start: expect.stringMatching(/^unexpected: .*--allow-worker/) as unknown,
    check: expect.stringMatching(/^missing/) as unknown,
    backup: expect.stringMatching(/^missing/) as unknown,
  });
});

it('a path in place of the options is an exception that names the option', () => {
  const options: unknown = 'plants.db';
  expect(() => openSqliteRepository(options as { path: string })).toThrow(
    "a path must be a string, as in 'plants.db'",
  );
});
