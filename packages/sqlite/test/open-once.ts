// Opens a repository, and prints why it cannot. Argument: database file.
import { openSqliteRepository } from '@plantstore/sqlite';

const opened = await openSqliteRepository({ path: process.argv[2] ?? '' });
const result = opened.match(
  () => ({ kind: 'opened' }),
  ({ kind, message }) => ({ kind, message }),
);
process.stdout.write(JSON.stringify(result));
