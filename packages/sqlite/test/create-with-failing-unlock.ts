// Creates a plant while locks on the -shm file cannot be released, and then others until one is acknowledged.
// Prints the result of each create. Argument: database file. $DISK_UNLOCK_FAILS is the file that makes releases fail.
import { rmSync, writeFileSync } from 'node:fs';
import { openSqliteRepository } from '@plantstore/sqlite';
import { skipReopenPause } from './skip-reopen-pause.ts';

const [path = ''] = process.argv.slice(2);
const failing = process.env['DISK_UNLOCK_FAILS'] ?? '';

const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
const results: string[] = [];
const create = async (id: bigint) => {
  const created = await repository.create({ id, name: 'Monstera' });
  results.push(
    created.match(
      () => 'ok',
      (error) => ('reason' in error ? error.reason : error.kind),
    ),
  );
};

// A read after a commit takes another lock of the -shm file, which must be released, too.
await create(0n);
await repository.check();
writeFileSync(failing, '');
await create(1n);
rmSync(failing);
do {
  skipReopenPause();
  await create(2n);
} while (results.at(-1) !== 'ok' && results.length < 7);
await repository.close();
process.stdout.write(JSON.stringify(results));
