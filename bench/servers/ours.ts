// Our request listener on a repository, without the program around it.
import { createMemoryRepository } from '@plantstore/core';
import { openPostgresRepository } from '@plantstore/postgres';
import { acceptTokens, createHttpServer } from '@plantstore/server';
import { openSqliteRepository } from '@plantstore/sqlite';
import { token } from '../load.ts';

const [database = ''] = process.argv.slice(2);
const open = async () => {
  if (database.startsWith('postgres:')) return openPostgresRepository({ url: database });
  return openSqliteRepository({ path: database });
};
const repository =
  database === 'memory' ? createMemoryRepository() : (await open())._unsafeUnwrap();
const server = createHttpServer({ repository, authenticate: acceptTokens([token]) });
server.listen(Number(process.env['PORT']), '127.0.0.1');
