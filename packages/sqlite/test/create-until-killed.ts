// Creates plants until it is killed, and prints the id of each acknowledged plant.
// Arguments: database file, and "NORMAL" to commit with synchronous=NORMAL.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openSqliteRepository } from '@plantstore/sqlite';
import { toBatch } from '../src/open/columns.ts';
import { openAsOwner } from '../src/open/owned-database.ts';
import { Statements } from '../src/commit/statements.ts';

const [path = '', mode] = process.argv.slice(2);

/** Upper limit, in case the process is not killed. */
const maxPlants = 100_000;

const report = (id: number) => process.stdout.write(`${id}\n`);
const name = (id: number) => `plant ${id} ${'x'.repeat(id % 200)}`;

const open = async () => (await openSqliteRepository({ path }))._unsafeUnwrap();

const createDurably = async () => {
  const repository = await open();
  const createFrom = async (first: number) => {
    for (let id = first; id < maxPlants; id += 16) {
      (await repository.create({ id: BigInt(id), name: name(id) }))._unsafeUnwrap();
      report(id);
    }
  };
  await Promise.all(Array.from({ length: 16 }, async (_, first) => createFrom(first)));
};

const createNormally = async () => {
  const database = openAsOwner({ path })._unsafeUnwrap();
  // A checkpoint would sync every plant.
  database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0');
  const statements = new Statements(database);
  for (let id = 0; id < maxPlants; id += 1) {
    statements.createAll(toBatch([{ id: BigInt(id), name: name(id) }]));
    report(id);
    // The output is written between two iterations of the event loop.
    await nextTurn();
  }
};

if (mode === 'NORMAL') await createNormally();
else await createDurably();
