import { openPostgresRepository, type OpenPostgresError } from '@plantstore/postgres';

// No server is needed to see that the package and its driver load and their types fit.
const opened = await openPostgresRepository({ url: 'postgres://ada:secret@127.0.0.1:1/garden' });
const told: OpenPostgresError['kind'] | 'opened' = opened.match(
  () => 'opened' as const,
  ({ kind }) => kind,
);
console.log(told);
