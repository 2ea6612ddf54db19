// Our request listener on a repository, without the program around it.
import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { openPostgresRepository } from '@plantstore/postgres';
import { acceptTokens, createHttpServer } from '@plantstore/server';
import { openSqliteRepository } from '@plantstore/sqlite';
import { okAsync } from 'neverthrow';
import { token } from '../token.ts';

const storesNothing: PlantRepository = { create: () => okAsync() };

const open = async (database: string): Promise<PlantRepository> => {
  if (database === 'nothing') return storesNothing;
  if (database === 'memory') return createMemoryRepository();
  const opened = database.startsWith('postgres:')
    ? await openPostgresRepository({ url: database })
    : await openSqliteRepository({ path: database });
  if (opened.isErr()) throw new Error(opened.error.message);
  return opened.value;
};

const repository = await open(process.argv[2] ?? 'memory');
createHttpServer({ repository, authenticate: acceptTokens([token]) }).listen(
  Number(process.env['PORT']),
  '127.0.0.1',
);
