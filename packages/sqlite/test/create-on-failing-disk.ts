// Creates plants, retries each until it is acknowledged, appends its number to the file
// "acknowledged", and prints the reasons of failed creates. Then kills itself with SIGKILL.
// Arguments: database file, number of the first plant, number after the last, "close" to close the
// repository first, "remove -wal" to remove that file before, "lose -wal" to remove it and create two
// more plants, "fail -wal" to try one before the close, or "exit" to exit after pages were rewritten, number of concurrent creates, and of
// attempts for each.
import { appendFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openSqliteRepository, type SqliteRepository } from '@plantstore/sqlite';
import { Database } from '../src/open/connection.ts';
import { descriptorsOf, fileOf } from './descriptors-of.ts';
import { notRecovered, plantOf } from './plant-of.ts';
import { skipReopenPause } from './skip-reopen-pause.ts';

const [path = '', first = '', last = '', end = '', ...limits] = process.argv.slice(2);
const [clients = 0, maxAttempts = 0] = limits.map(Number);
const acknowledged = join(dirname(path), 'acknowledged');

const open = async (attempts = maxAttempts): Promise<SqliteRepository> => {
  const opened = await openSqliteRepository({ path });
  if (opened.isOk()) return opened.value;
  if (attempts === 0) throw new Error(opened.error.message, { cause: opened.error.cause });
  return open(attempts - 1);
};

const create = async (repository: SqliteRepository, number: number): Promise<void> => {
  for (let attempts = 0; attempts < maxAttempts; attempts += 1) {
    const result = await repository.create(plantOf(number));
    if (result.isOk()) {
      appendFileSync(acknowledged, `${number}\n`);
      return;
    }
    if (result.error.kind === 'store-unavailable') console.log(result.error.reason);
    skipReopenPause();
  }
  console.log(notRecovered);
  process.kill(process.pid, 'SIGKILL');
};

const repository = await open();
const openDescriptors = () => descriptorsOf(path).filter((one) => fileOf(one) === path).length;
const descriptorsBefore = openDescriptors();
const createFrom = async (start: number) => {
  for (let number = start; number < Number(last); number += clients) {
    await create(repository, number);
  }
};
await Promise.all(
  Array.from({ length: clients }, async (_, client) => createFrom(Number(first) + client)),
);

const isLocked = (): boolean => {
  const reader = new Database(path, { readOnly: true });
  try {
    reader.exec('SELECT count(*) FROM plants');
    return false;
  } catch {
    return true;
  } finally {
    reader.close();
  }
};
/** Waits until the store has rewritten pages, and has released the exclusive lock. */
const waitUntilRewritten = async (): Promise<void> => {
  for (let polls = 0; polls < 500; polls += 1) {
    if (openDescriptors() > descriptorsBefore && !isLocked()) return;
    await setTimeout(10);
  }
};
if (end === 'exit') {
  await waitUntilRewritten();
  process.exit();
}
const [verb, suffix] = end.split(' ');
if (suffix !== undefined) rmSync(`${path}${suffix}`);
if (verb === 'lose') for (const number of [0, 1]) await create(repository, Number(last) + number);
else if (end !== 'kill') {
  if (verb === 'fail') await repository.create(plantOf(Number(last)));
  await repository.close();
}
process.kill(process.pid, 'SIGKILL');
