import { openPostgresRepository, type OpenPostgresError } from '@plantstore/postgres';

// Without a server: this checks that the package and its driver load and that their types match.
const opened = await openPostgresRepository({ url: 'postgres://ada:secret@127.0.0.1:1/garden' });
const outcome: OpenPostgresError['kind'] | 'opened' = opened.match(
  () => 'opened' as const,
  ({ kind }) => kind,
);
console.log(outcome);
