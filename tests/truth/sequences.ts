import type { Plan, Step } from './plan.ts';

/** An act with choices that differ from the first ones. */
type Chosen = readonly [act: string, choices?: Readonly<Record<string, string | number>>];

/** Fixed sequences of acts of each store, by what happens. */
export const sequences: Readonly<
  Record<'sqlite' | 'postgres', Readonly<Record<string, readonly Chosen[]>>>
> = {
  sqlite: {
    'kills and stops under load': [
      ['kill the server'],
      ['stop the server'],
      ['stop the server twice', { gapMs: 5 }],
      ['kill the server'],
      ['start a second server'],
    ],
    'a disk that is full, fails or is slow': [
      ['fill the disk', { forMs: 1_000 }],
      ['fail calls', { call: 'write', error: 28, suffix: '-wal', share: 1_000, forMs: 700 }],
      ['kill the server'],
      ['fail calls', { call: 'sync', error: 5, suffix: '*', share: 500, forMs: 700 }],
      ['delay calls', { call: 'sync', delayMs: 700 }],
      ['stop the server'],
    ],
    'files that are moved away and back, or removed': [
      ['move the file away and back', { what: 'file', ending: '' }],
      ['remove a file beside the database', { suffix: '-wal', isStopped: 0 }],
      ['move the file away and back', { what: 'files', ending: 'kill' }],
      ['remove a file beside the database', { suffix: '-shm', isStopped: 0 }],
      ['move the file away and back', { what: 'folder', ending: 'stop' }],
    ],
    'commands that are killed under load': [
      ['back up', { killAfterMs: 0 }],
      ['back up', { killAfterMs: 300 }],
      ['import', { count: 6_000, killAfterMs: 300, readAfterMs: 0 }],
      ['restore a backup', { how: 'restore' }],
      ['import', { count: 300, killAfterMs: 0, readAfterMs: 0 }],
    ],
    'other programs that read, lock and change the file': [
      ['read with another program', { forMs: 1_000 }],
      ['lock with another program', { kind: 'IMMEDIATE', writes: 1, forMs: 700 }],
      ['change the file with another program', { statement: 'VACUUM', before: '', killAfterMs: 4 }],
      [
        'change the file with another program',
        { statement: 'VACUUM', before: 'kill', killAfterMs: 0 },
      ],
      ['put a backup beside the WAL'],
    ],
  },
  postgres: {
    'restarts and crashes of the database under load': [
      ['restart the database', { signal: 'SIGINT', downMs: 0 }],
      ['restart the database', { signal: 'SIGQUIT', downMs: 0 }],
      ['end the sessions', { times: 20 }],
      ['crash after commits without a sync'],
      ['kill the server'],
    ],
    'a network that fails': [
      ['disturb the network', { mode: 'cut', ends: 0 }],
      ['end one side of each connection', { side: 'server' }],
      ['disturb the network', { mode: 'discard-responses', ends: 0, forMs: 1_500 }],
      ['disturb the network', { mode: 'refuse', ends: 1 }],
      ['stop the server'],
    ],
    'locks and triggers': [
      ['lock the table', { mode: 'ACCESS EXCLUSIVE' }],
      ['lock an id', { id: 1, end: 'COMMIT', forMs: 1_500 }],
      ['leave plants out in a trigger', { ends: 0, forMs: 700 }],
      ['refuse plants at the commit', { ends: 0, forMs: 700 }],
      ['import', { count: 300, killAfterMs: 0, readAfterMs: 0 }],
      ['kill the server'],
    ],
  },
};

/** Returns the plan of a fixed sequence. */
export function planOfSequence(chosen: readonly Chosen[], isMounted: boolean): Plan {
  const steps = chosen.map(([act, choices]): Step => ({
    act,
    waitMs: 150,
    forMs: 400,
    ...choices,
  }));
  return {
    seed: 2,
    handlerMs: 5_000,
    shutdownMs: 10_000,
    clients: 4,
    isBig: false,
    isAscending: false,
    isMounted,
    steps,
  };
}
