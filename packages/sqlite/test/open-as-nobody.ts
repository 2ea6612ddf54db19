import { openSqliteRepository } from '@plantstore/sqlite';

// Root may write anywhere, so it cannot meet a folder that is read-only.
const nobody = 65_534;
if (process.getuid?.() === 0) process.setuid?.(nobody);

const opened = await openSqliteRepository({ path: process.argv[2] ?? '' });
const told = opened.match(
  () => ({ kind: 'opened' }),
  ({ kind, message }) => ({ kind, message }),
);
process.stdout.write(JSON.stringify(told));
