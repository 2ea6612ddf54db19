// Creates plants, retries each until it is acknowledged, appends its number to the file "acknowledged", and
// prints the reasons of failed creates. Then kills itself with SIGKILL.
// Arguments: database file, number of the first plant, number after the last, "close" to close the repository first.
import { appendFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openSqliteRepository, type SqliteRepository } from '@plantstore/sqlite';
import { plantOf } from './plant-of.ts';
import { skipReopenPause } from './skip-reopen-pause.ts';

const [path = '', first = '', last = '', end] = process.argv.slice(2);
const acknowledged = join(dirname(path), 'acknowledged');
const clients = 4;

const open = async (attempts = 40): Promise<SqliteRepository> => {
  const opened = await openSqliteRepository({ path });
  if (opened.isOk()) return opened.value;
  if (attempts === 0) throw new Error(opened.error.message, { cause: opened.error.cause });
  return open(attempts - 1);
};

const create = async (repository: SqliteRepository, number: number): Promise<void> => {
  for (let attempts = 0; attempts < 40; attempts += 1) {
    const result = await repository.create(plantOf(number));
    if (result.isOk()) {
      appendFileSync(acknowledged, `${number}\n`);
      return;
    }
    if (result.error.kind === 'store-unavailable') console.log(result.error.reason);
    skipReopenPause();
  }
  throw new Error('the store did not recover');
};

const repository = await open();
const createFrom = async (start: number) => {
  for (let number = start; number < Number(last); number += clients) {
    await create(repository, number);
  }
};
await Promise.all(
  Array.from({ length: clients }, async (_, client) => createFrom(Number(first) + client)),
);
if (end === 'close') await repository.close();
process.kill(process.pid, 'SIGKILL');
