import { createPlant } from '@plantstore/core';
import { openSqliteRepository } from '@plantstore/sqlite';

const opened = await openSqliteRepository({ path: process.env['PLANTS_FILE'] ?? 'plants.db' });
if (opened.isErr()) throw new Error(opened.error.message);

const repository = opened.value;
const created = await createPlant(repository, { id: 9223372036854775807n, name: 'Monstera' });
console.log(created.isOk() ? 'on the disk' : created.error.kind);
await repository.close();
