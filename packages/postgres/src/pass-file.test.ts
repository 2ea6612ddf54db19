import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readPassFile } from './pass-file.ts';

let file = '';
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  file = join(folder, 'pgpass');
  vi.stubEnv('PGPASSFILE', file);
  return async () => rm(folder, { recursive: true });
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const find = async (host = 'db.example') =>
  readPassFile({ host, port: 5432 }, { database: 'garden', user: 'ada' });

it.each([
  [String.raw`other:*:*:*:no|db.example:5432:*:ada:s\:e\\c|*:*:*:*:late`, String.raw`s:e\c`],
  ['# comment|*:*:garden:ada:yes', 'yes'],
  ['*:*:*:*:a:b', 'a:b'],
  ['*:1:*:*:no|*:*:*:bob:no|*:*:x:*:no|nonsense', undefined],
])('the first line of %j that fits has the password', async (lines, password) => {
  await writeFile(file, lines.replaceAll('|', '\r\n'), { mode: 0o600 });
  expect(await find()).toBe(password);
});

it.each(['localhost:*:*:*:socket', '/tmp:*:*:*:socket'])(
  'a line of a socket names its folder or localhost: %s',
  async (line) => {
    await writeFile(file, line, { mode: 0o600 });
    expect(await find('/tmp')).toBe('socket');
    expect(await find()).toBeUndefined();
  },
);

it('a pipe that nothing writes into is no pass file and is not waited for', async ({ skip }) => {
  skip(process.platform === 'win32', 'there are no such pipes here');
  await promisify(execFile)('mkfifo', ['-m', '600', file]);
  expect(await find()).toBeUndefined();
});
