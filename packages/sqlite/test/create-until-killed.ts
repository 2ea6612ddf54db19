// Creates plants in the file that the first argument names, and says the id of each that it may
// tell a client. With "NORMAL" as the second, commits return before they are on the disk.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openSqliteRepository } from '@plantstore/sqlite';
import { toBatch } from '../src/batch.ts';
import { openDatabaseFile } from '../src/database-file.ts';
import { createPlantsTable } from '../src/plants-table.ts';

const [path = '', mode] = process.argv.slice(2);

/** It is killed long before; should nobody do so, it ends. */
const enough = 100_000;

const say = (id: number) => process.stdout.write(`${id}\n`);
const name = (id: number) => `plant ${id} ${'x'.repeat(id % 200)}`;

const createDurably = async () => {
  const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  const createFrom = async (first: number) => {
    for (let id = first; id < enough; id += 16) {
      (await repository.create({ id: BigInt(id), name: name(id) }))._unsafeUnwrap();
      say(id);
    }
  };
  await Promise.all(Array.from({ length: 16 }, async (_, first) => createFrom(first)));
};

const createNormally = async () => {
  const database = openDatabaseFile(path, { mayBeNew: true, mustRewrite: false });
  if ('kind' in database) throw new Error(database.kind);
  database.exec('PRAGMA synchronous = NORMAL');
  const table = createPlantsTable(database);
  for (let id = 0; id < enough; id += 1) {
    table.createAll(toBatch([{ id: BigInt(id), name: name(id) }]));
    say(id);
    // What was said leaves the process between two turns.
    await nextTurn();
  }
};

if (mode === 'NORMAL') await createNormally();
else await createDurably();
