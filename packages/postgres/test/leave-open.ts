// Opens a repository, creates a plant, and does not close the repository. Argument: database URL.
import { openPostgresRepository } from '@plantstore/postgres';

const opened = await openPostgresRepository({ url: process.argv[2] ?? '' });
const repository = opened._unsafeUnwrap();
const created = await repository.create({ id: 7n, name: 'Monstera' });
process.stdout.write(created.isOk() ? 'created' : created.error.kind);
