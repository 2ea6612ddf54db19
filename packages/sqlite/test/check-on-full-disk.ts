// Opens a repository on a small disk, fills the disk, and prints the results of a check and a
// create, and whether a start is refused; then of each with free space. Argument: folder.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteRepository } from '@plantstore/sqlite';
import { fillDisk } from './fill-disk.ts';

const folder = process.argv[2] ?? '';
const ballast = join(folder, 'ballast');
const open = async (name: string) => openSqliteRepository({ path: join(folder, name) });

await (await open('other.db'))._unsafeUnwrap().close();
const repository = (await open('plants.db'))._unsafeUnwrap();
let id = 0n;
const use = async () => {
  const check = await repository.check();
  const created = await repository.create({ id: (id += 1n), name: 'x' });
  const other = await open('other.db');
  const start = other.isOk() ? 'opened' : other.error.kind;
  if (other.isOk()) await other.value.close();
  return [check.isOk(), created.isOk(), start];
};
const before = await use();
fillDisk(ballast);
const full = await use();
rmSync(ballast);
const after = await use();
await repository.close();
process.stdout.write(JSON.stringify({ before, full, after, warnings: repository.warnings }));
