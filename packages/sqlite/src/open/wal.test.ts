import { copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it } from 'vitest';
import { readCommitted } from './wal.ts';
import { Database } from './connection.ts';
import { openSqliteRepository } from '../repository.ts';

const frameSize = 24 + 4_096;

it('the last commit of a WAL file is the one that SQLite finds, also when its header or any frame is damaged', async () => {
  const folder = await makeFolder();
  const path = join(folder, 'plants.db');
  const copy = join(folder, 'copy.db');
  const store = (await openSqliteRepository({ path }))._unsafeUnwrap();
  for (let id = 0n; id < 10n; id += 1n) await store.create({ id, name: 'x'.repeat(5_000) });
  const wal = await readFile(`${path}-wal`);
  const pagesInFile = (await stat(path)).size / 4_096;
  // A byte of the magic number, the page size, the salt, and the checksum.
  const positions = [3, 8, 16, 24];
  for (let at = 32 + 2 * frameSize; at < wal.length; at += frameSize) positions.push(at + 2_000);
  for (const at of positions) {
    const damaged = Buffer.from(wal);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    await copyFile(path, copy);
    await writeFile(`${copy}-wal`, damaged);
    const committed = readCommitted(copy);
    const database = new Database(copy);
    const { page_count: pages = 0 } = database.prepare('PRAGMA page_count').get() ?? {};
    database.close();
    expect(committed?.pages ?? pagesInFile).toBe(pages);
  }
  expect(readCommitted(path)?.pages).toBeGreaterThan(10);
  await store.close();
});
