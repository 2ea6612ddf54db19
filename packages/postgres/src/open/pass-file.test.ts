import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readPassFile } from './pass-file.ts';

let file = '';
beforeEach(async () => {
  file = join(await makeFolder(), 'pgpass');
  vi.stubEnv('PGPASSFILE', file);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const find = async (host = 'db.example') =>
  readPassFile({ host, port: 5432 }, { database: 'garden', user: 'ada' });

it.each([
  [String.raw`other:*:*:*:no|db.example:5432:*:ada:s\:e\\c|*:*:*:*:late`, String.raw`s:e\c`],
  ['*:1:*:*:no|*:*:*:bob:no|*:*:x:*:no|localhost:*:*:*:socket|nonsense', undefined, 'socket'],
  ['/tmp:*:*:*:socket', undefined, 'socket'],
])('the first matching line of the password file %j has the password', async (lines, ...found) => {
  await writeFile(file, lines.replaceAll('|', '\r\n'), { mode: 0o600 });
  expect(await find()).toBe(found[0]);
  // As in libpq, the host of a socket is its folder, or localhost for the default one.
  expect(await find('/tmp')).toBe(found[1] ?? 'late');
});

it('a socket in another folder than the default has its folder as the host', async () => {
  await writeFile(file, 'localhost:*:*:*:no\n/other:*:*:*:socket', { mode: 0o600 });
  expect(await find('/other')).toBe('socket');
  expect(await find('/another')).toBeUndefined();
});

it('a named pipe as the password file is ignored without waiting for data', async ({ skip }) => {
  skip(process.platform === 'win32', 'Windows does not have named pipes in folders');
  await promisify(execFile)('mkfifo', ['-m', '600', file]);
  expect(await find()).toBeUndefined();
});
