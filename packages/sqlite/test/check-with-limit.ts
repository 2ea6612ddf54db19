// Opens a repository, limits the size of the files that this process may write, and prints the
// results of a check and a create, then of both without the limit. Arguments: database, limit.
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSqliteRepository } from '@plantstore/sqlite';

const [path = '', limit = ''] = process.argv.slice(2);
const limitTo = (size: string) =>
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${size}:`]);

const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
let id = 0n;
const use = async () => {
  const check = await repository.check();
  const created = await repository.create({ id: (id += 1n), name: 'x' });
  return [check.isOk(), created.isOk()];
};
const before = await use();
limitTo(limit);
const limited = await use();
limitTo('unlimited');
// The repository opens the file again once a second.
let after = await use();
while (!after.every(Boolean)) {
  await sleep(50);
  after = await use();
}
await repository.close();
process.stdout.write(JSON.stringify({ before, limited, after }));
