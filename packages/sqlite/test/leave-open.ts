// Opens a repository, creates a plant, and does not close the repository. Argument: database file.
import { openSqliteRepository } from '@plantstore/sqlite';

const opened = await openSqliteRepository({ path: process.argv[2] ?? '' });
const created = await opened._unsafeUnwrap().create({ id: 7n, name: 'Monstera' });
process.stdout.write(created.isOk() ? 'created' : created.error.kind);
