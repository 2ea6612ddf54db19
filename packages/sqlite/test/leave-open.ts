// Opens a repository, creates plants, and does not close the repository. Arguments: database file, names of the plants.
import { openSqliteRepository } from '@plantstore/sqlite';

const [path = '', ...names] = process.argv.slice(2);
const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
process.stdout.write('opened');
for (const [index, name] of names.entries()) {
  const created = await repository.create({ id: BigInt(index), name });
  process.stdout.write(created.isOk() ? ', created' : created.error.kind);
}
