// Fills a small disk, removes the WAL file, and prints which creates succeed, and what a kill would
// leave; then the same with free space. Argument: folder.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteRepository } from '@plantstore/sqlite';
import { Database } from '../src/open/connection.ts';
import { fillDisk } from './fill-disk.ts';
import { skipReopenPause } from './skip-reopen-pause.ts';
import { countPlants } from './store-file.ts';

const folder = process.argv[2] ?? '';
const path = join(folder, 'plants.db');
const open = async () => (await openSqliteRepository({ path }))._unsafeUnwrap();
let repository = await open();
/** Creates plants whose pages are all over the file. */
const create = async (from: number, to: number) => {
  const ids = Array.from({ length: to - from }, (_, index) => BigInt(from + index));
  const plants = ids.map((id) => ({ id: (id * 7_919n) % 1_009n, name: 'x'.repeat(500) }));
  const created = await Promise.all(plants.map(async (plant) => repository.create(plant)));
  return created.every((one) => one.isOk());
};
await create(0, 100);
await repository.close();
repository = await open();
await create(100, 300);
fillDisk(join(folder, 'ballast'));
rmSync(`${path}-wal`);
const full = [await create(300, 301), await create(300, 301), await create(300, 301)];
const outside = mkdtempSync(join(tmpdir(), 'plantstore-'));
const copy = join(outside, 'plants.db');
copyFileSync(path, copy);
const database = new Database(copy);
const found = database.prepare('PRAGMA integrity_check').get();
const plants = database.read('SELECT count(*) FROM plants');
database.close();
rmSync(outside, { recursive: true });
rmSync(join(folder, 'ballast'));
const first = await create(300, 301);
skipReopenPause();
const after = [first, await create(300, 301)];
await repository.close();
const all = countPlants(path);
process.stdout.write(JSON.stringify({ full, found, plants, after, all }));
