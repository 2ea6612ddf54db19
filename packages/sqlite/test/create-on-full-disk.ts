// Creates plants on a disk of 2 MB until it is full, closes the repository on a full disk and with free space, and prints
// the results. Argument: folder of the disk.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteRepository } from '@plantstore/sqlite';
import { fillDisk } from './fill-disk.ts';

const folder = process.argv[2] ?? '';
const path = join(folder, 'plants.db');
const ballast = join(folder, 'ballast');
const name = 'x'.repeat(10_000);

fillDisk(ballast);
const open = async () => (await openSqliteRepository({ path }))._unsafeUnwrap();
const opened = await openSqliteRepository({ path });
const openedWhenFull = opened.isOk() ? 'opened' : opened.error.kind;
rmSync(ballast);
writeFileSync(ballast, Buffer.alloc(1_200_000));

const repository = await open();
let stored = 0n;
let refused = await repository.create({ id: stored, name });
while (refused.isOk()) {
  stored += 1n;
  refused = await repository.create({ id: stored, name });
}
const refusedKind = refused.error.kind;
const reason = 'reason' in refused.error ? refused.error.reason : '';
rmSync(ballast);
const recovered = (await repository.create({ id: stored, name })).isOk();
fillDisk(ballast);
const { walLeft: walOnFullDisk = 'none' } = await repository.close();
rmSync(ballast);
const { walLeft: walWithFreeSpace = 'none' } = await (await open()).close();

// Every acknowledged plant is stored.
const again = await open();
let found = 0n;
while (found < stored && (await again.create({ id: found, name })).isOk()) found += 1n;
await again.close();

process.stdout.write(
  JSON.stringify({
    openedWhenFull,
    refusedKind,
    reason,
    recovered,
    walOnFullDisk,
    walWithFreeSpace,
    stored: Number(stored),
    found: Number(found),
  }),
);
