// Replaces a database after each open(2) in turn (disk.c), while a repository opens a new file, an existing one, and its own
// again after a failure; then creates a plant. Prints what became of that plant in each case. Argument: database.
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openSqliteRepository, readPlants, type SqliteRepository } from '@plantstore/sqlite';
import { runsAll } from '@plantstore/test-support/sample';
import { skipReopenPause } from './skip-reopen-pause.ts';

const [path = ''] = process.argv.slice(2);
const [folder, replacement] = [dirname(path), join(dirname(path), 'replacement')];
const empty = join(folder, '..', 'empty.db');
const plant = { id: 7n, name: 'Monstera' };

const open = async (file: string): Promise<SqliteRepository | undefined> =>
  (await openSqliteRepository({ path: file })).unwrapOr(undefined);

const makeFiles = async () => {
  for (const name of ['plants.db', 'replacement']) {
    for (const end of ['', '-wal', '-shm', '-owner'])
      rmSync(join(folder, `${name}${end}`), { force: true });
  }
  copyFileSync(empty, path);
  copyFileSync(empty, replacement);
};

const isStored = async (): Promise<boolean> => {
  for await (const read of readPlants({ path }))
    if (read.isOk() && read.value.id === plant.id) return true;
  return false;
};

/** Opens a repository that must open its file again. */
const openAndFail = async () => {
  const repository = await open(path);
  renameSync(path, `${path}.moved`);
  await repository?.create({ id: 1n, name: 'x' });
  renameSync(`${path}.moved`, path);
  skipReopenPause();
  return repository;
};

await (await open(empty))?.close();
const outcomes: string[][] = [];
for (const state of ['new', 'closed', 'open']) {
  const seen: string[] = [];
  outcomes.push(seen);
  for (let isReplaced = true, number = 1; isReplaced; number += runsAll ? 1 : 5) {
    await makeFiles();
    if (state === 'new') rmSync(path);
    const before = state === 'open' ? await openAndFail() : undefined;
    process.env['DISK_REPLACED'] = String(number);
    const repository = before ?? (await open(path));
    const created = await repository?.create(plant);
    process.env['DISK_REPLACED'] = '0';
    isReplaced = !existsSync(replacement);
    await repository?.close();
    if (created?.isOk() !== true) seen.push('refused');
    else seen.push((await isStored()) ? 'stored' : 'lost');
  }
}
process.stdout.write(JSON.stringify(outcomes));
