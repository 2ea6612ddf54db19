// Makes each open(2) of a copy fail with EMFILE in turn (disk.c), while a sound database is backed up.
// Prints the different errors. Arguments: database, copy.
import { rmSync } from 'node:fs';
import { constants } from 'node:os';
import { backUpPlants } from '@plantstore/sqlite';

const [, , from = '', to = ''] = process.argv;
/** More of them than a backup needs. */
const opens = 12;

const seen = new Set<string>();
for (let open = 1; open <= opens; open += 1) {
  process.env['DISK_FAILING_CALL'] = `${open} ${constants.errno.EMFILE}`;
  const backedUp = await backUpPlants({ from, to });
  process.env['DISK_FAILING_CALL'] = '0 0';
  if (backedUp.isErr()) seen.add(`${backedUp.error.kind} ${backedUp.error.path}`);
  else seen.add('ok');
  rmSync(to, { force: true });
}
process.stdout.write(JSON.stringify([...seen].toSorted()));
