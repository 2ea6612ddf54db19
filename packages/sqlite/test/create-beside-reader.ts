// Creates plants while another connection has the file open, until a checkpoint fails; and then one more plant before and
// after the other connection is closed. Prints the different results. Argument: database file.
import { openSqliteRepository } from '@plantstore/sqlite';
import { walLimit } from '../src/commit/checkpoints.ts';
import { Database } from '../src/open/connection.ts';
import { skipReopenPause } from './skip-reopen-pause.ts';

const [path = ''] = process.argv.slice(2);
const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
const reader = new Database(path, { readOnly: true });
reader.prepare('SELECT count(*) FROM plants').get();

const results: string[] = [];
const create = async (id: bigint): Promise<void> => {
  skipReopenPause();
  const created = await repository.create({ id, name: 'x'.repeat(walLimit / 2) });
  const result = created.match(
    () => 'ok',
    (error) => ('reason' in error ? error.reason : error.kind),
  );
  if (results.at(-1) !== result) results.push(result);
};

for (let id = 1_000n; results.length < 2 && id < 1_100n; id += 1n) await create(id);
for (let id = 2_000n; id < 2_002n; id += 1n) await create(id);
results.push('the other connection is closed');
reader.close();
await create(3_000n);
await repository.close();
process.stdout.write(JSON.stringify(results));
