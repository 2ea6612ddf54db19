// Makes each read of a disk fail in turn (disk.c), while a sound database is checked, read and backed up.
// Prints the different results of each. Arguments: database, copy, step between the reads that fail.
import { rmSync } from 'node:fs';
import { backUpPlants, checkPlants, type OpenSqliteError, readPlants } from '@plantstore/sqlite';

const [, , path = '', to = '', step = '1'] = process.argv;
/** More reads than a check needs. */
const reads = 40;

type Failure = Pick<OpenSqliteError, 'path' | 'message'> & { readonly kind: string };

const tasks: Readonly<Record<string, () => Promise<Failure | undefined>>> = {
  async check() {
    const checked = checkPlants(path);
    if (checked.isErr()) return checked.error;
    const [message] = checked.value.damage;
    return message === undefined ? undefined : { kind: 'damage', path, message };
  },
  async read() {
    for await (const read of readPlants({ path })) if (read.isErr()) return read.error;
    return undefined;
  },
  async backUp() {
    const backedUp = await backUpPlants({ from: path, to });
    if (backedUp.isErr()) return backedUp.error;
    rmSync(to);
    return undefined;
  },
};

for (const [task, run] of Object.entries(tasks)) {
  for (const rule of ['', ' sector']) {
    const seen = new Set<string>();
    for (let read = 1; read <= reads; read += Number(step)) {
      process.env['DISK_FAILING_READ'] = `${read}${rule}`;
      const failure = await run();
      seen.add(failure === undefined ? 'ok' : `${failure.kind}: ${failure.message}`);
    }
    process.stdout.write(`${task}${rule}: ${[...seen].toSorted().join(', ')}\n`);
  }
}
