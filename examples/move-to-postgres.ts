import { DatabaseSync } from 'node:sqlite';
import { createPlant } from '@plantstore/core';
import { openPostgresRepository } from '@plantstore/postgres';

const { PLANTS_FILE = 'plants.db', PLANTS_DATABASE = '' } = process.env;

const opened = await openPostgresRepository({ url: PLANTS_DATABASE });
if (opened.isErr()) throw new Error(opened.error.message);
const repository = opened.value;

// A host keeps this empty file locked: "database is locked" means that the host is to be stopped.
const guard = new DatabaseSync(`${PLANTS_FILE}-owner`);
guard.exec('BEGIN EXCLUSIVE');
const file = new DatabaseSync(PLANTS_FILE, { readOnly: true });
const statement = file.prepare('SELECT id, name, tag FROM plants ORDER BY id');
statement.setReadBigInts(true);

const move = async ({ id, name, tag }: Record<string, unknown>) => {
  const created = await createPlant(repository, { id, name, ...(tag !== null && { tag }) });
  if (created.isErr()) throw new Error(`the plant ${String(id)}: ${created.error.kind}`);
};

let moved = 0;
let batch: Promise<void>[] = [];
const finishBatch = async () => {
  await Promise.all(batch);
  moved += batch.length;
  batch = [];
};
for (const row of statement.iterate()) {
  batch.push(move(row));
  if (batch.length === 1_000) await finishBatch();
}
await finishBatch();

console.log(`${moved} plants are in the database`);
file.close();
guard.close();
await repository.close();
