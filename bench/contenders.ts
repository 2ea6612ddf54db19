import { bin } from './build.ts';
import type { Contender } from './measure.ts';
import type { Stores } from './stores.ts';
import { token } from './token.ts';

/** What everything is a ratio to. */
export const baseline: Contender = {
  name: 'bare node:http',
  group: 'limit',
  ids: 'sequential',
  program: async () => ({ file: 'servers/bare.ts' }),
};

/** What the load generator reaches where a server costs next to nothing. */
export const rawSocket: Contender = {
  name: "load generator's own limit (a raw socket)",
  group: 'limit',
  ids: 'sequential',
  program: async () => ({ file: 'servers/raw.ts' }),
};

/** This project, as it is built. */
export const ours = ({ newFile, newDatabase }: Stores): readonly Contender[] => {
  const listener = (database: string) => ({ file: 'servers/ours.ts', args: [database] });
  const host = (port: number, database: string) => ({
    file: bin,
    args: ['--port', String(port), '--database', database, '--log', 'json'],
    env: { PLANTSTORE_TOKENS: token },
    stdout: `${newFile()}.log`,
  });
  const inMemory = { group: 'ours', store: 'memory', ids: 'random' } as const;
  const onSqlite = { group: 'ours', store: 'sqlite', ids: 'random', core: 'any' } as const;
  return [
    {
      ...inMemory,
      name: 'ours, keeping nothing',
      program: async () => listener('nothing'),
      forgets: true,
    },
    { ...inMemory, name: 'ours, in memory', program: async () => listener('memory') },
    {
      ...inMemory,
      name: 'ours, in memory, whole host, logging',
      program: async (port) => host(port, 'memory:'),
    },
    {
      ...onSqlite,
      name: 'ours, sqlite, sequential ids',
      ids: 'sequential',
      program: async () => listener(newFile()),
    },
    { ...onSqlite, name: 'ours, sqlite', program: async () => listener(newFile()) },
    {
      ...onSqlite,
      name: 'ours, sqlite, whole host, logging',
      program: async (port) => host(port, `sqlite:${newFile()}`),
    },
    {
      name: 'ours, postgres',
      group: 'ours',
      store: 'postgres',
      ids: 'random',
      program: async () => listener(await newDatabase()),
    },
  ];
};
