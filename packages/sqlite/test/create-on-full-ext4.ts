// Creates plants on an ext4 file system whose disk becomes full, so that syncs fail, and then has space again.
// Prints the numbers of the acknowledged plants at its end, and kills itself with SIGKILL.
// Arguments: folder of the file system, file that fills the disk, "close" to close the repository first.
import { execFileSync } from 'node:child_process';
import { rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteRepository } from '@plantstore/sqlite';
import { fillDisk } from './fill-disk.ts';
import { plantOf } from './plant-of.ts';
import { skipReopenPause } from './skip-reopen-pause.ts';

const [folder = '', ballast = '', end] = process.argv.slice(2);

const repository = (
  await openSqliteRepository({ path: join(folder, 'plants.db') })
)._unsafeUnwrap();
const acknowledged = new Set<number>();
const reasons = new Set<string>();

const createEach = async (first: number, last: number): Promise<void> => {
  for (let number = first; number < last; number += 1) {
    const created = await repository.create(plantOf(number));
    if (created.isOk()) acknowledged.add(number);
    else if (created.error.kind !== 'store-unavailable') throw new Error(created.error.kind);
    else reasons.add(created.error.reason);
    skipReopenPause();
  }
};

await createEach(0, 200);
// Releases unused blocks, as on a thin-provisioned volume that is larger than its disk.
execFileSync('fstrim', [folder]);
fillDisk(ballast);
const hasSyncFailed = () => [...reasons].some((reason) => reason.endsWith('input-output'));
let last = 200;
while (!hasSyncFailed()) {
  if (last > 2_000) throw new Error(`no sync failed, but: ${[...reasons].join('; ')}`);
  await createEach(last, (last += 10));
}
for (let round = 0; round < 2; round += 1) await createEach(last - 20, last);
rmSync(ballast);
for (let round = 0; round < 2; round += 1) await createEach(190, last + 20);
if (end === 'close') await repository.close();
// In one write: a reader that is late would make one of many fail.
writeSync(1, JSON.stringify([...acknowledged]));
process.kill(process.pid, 'SIGKILL');
