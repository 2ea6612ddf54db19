import { openSqliteRepository } from '@plantstore/sqlite';

// Permissions do not apply to root.
const unprivilegedUser = 65_534;
if (process.getuid?.() === 0) process.setuid?.(unprivilegedUser);

const opened = await openSqliteRepository({ path: process.argv[2] ?? '' });
const result = opened.match(
  () => ({ kind: 'opened' }),
  ({ kind, message }) => ({ kind, message }),
);
process.stdout.write(JSON.stringify(result));
