// Creates a plant, and does not close the repository. Argument: database.
import { openSqliteRepository } from '@plantstore/sqlite';

const repository = (await openSqliteRepository({ path: process.argv[2] ?? '' }))._unsafeUnwrap();
const created = await repository.create({ id: 7n, name: 'Monstera' });
process.stdout.write(created.isOk() ? 'created' : created.error.kind);
