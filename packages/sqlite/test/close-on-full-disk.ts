// Closes a repository on a full disk of 2 MB, and again with free space. Prints the remaining WAL file of each
// close, and whether the plant is stored. Argument: folder of the disk.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteRepository } from '@plantstore/sqlite';
import { fillDisk } from './fill-disk.ts';

const folder = process.argv[2] ?? '';
const path = join(folder, 'plants.db');
const ballast = join(folder, 'ballast');

const open = async () => (await openSqliteRepository({ path }))._unsafeUnwrap();

const before = await open();
(await before.create({ id: 7n, name: 'x'.repeat(10_000) }))._unsafeUnwrap();
fillDisk(ballast);
const { walLeft: onFullDisk = 'none' } = await before.close();
rmSync(ballast);
const { walLeft: withFreeSpace = 'none' } = await (await open()).close();

const after = await open();
const other = await after.create({ id: 7n, name: 'other' });
await after.close();
process.stdout.write(JSON.stringify({ onFullDisk, withFreeSpace, isStored: other.isErr() }));
