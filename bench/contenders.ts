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
  return [
    {
      name: 'ours, keeping nothing',
      group: 'ours',
      ids: 'random',
      program: async () => listener('nothing'),
      forgets: true,
    },
    {
      name: 'ours, in memory',
      group: 'ours',
      ids: 'random',
      program: async () => listener('memory'),
    },
    {
      name: 'ours, in memory, whole host, logging',
      group: 'ours',
      ids: 'random',
      program: async (port) => host(port, 'memory:'),
    },
    {
      name: 'ours, sqlite, sequential ids',
      group: 'ours',
      ids: 'sequential',
      program: async () => listener(newFile()),
      core: 'any',
    },
    {
      name: 'ours, sqlite',
      group: 'ours',
      ids: 'random',
      program: async () => listener(newFile()),
      core: 'any',
    },
    {
      name: 'ours, sqlite, whole host, logging',
      group: 'ours',
      ids: 'random',
      program: async (port) => host(port, `sqlite:${newFile()}`),
      core: 'any',
    },
    {
      name: 'ours, postgres',
      group: 'ours',
      ids: 'random',
      program: async () => listener(await newDatabase()),
    },
  ];
};
