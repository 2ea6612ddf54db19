import { createPlant } from '@plantstore/core';
import { openPostgresRepository } from '@plantstore/postgres';

const url = process.env['PLANTS_DATABASE'] ?? 'postgres://ada:secret@localhost:5432/garden';
const opened = await openPostgresRepository({ url });
if (opened.isErr()) throw new Error(opened.error.message);

const repository = opened.value;
const created = await createPlant(repository, { id: 9223372036854775807n, name: 'Monstera' });
console.log(created.isOk() ? 'in the database' : created.error.kind);
await repository.close();
