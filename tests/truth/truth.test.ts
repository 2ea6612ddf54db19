import { tmpdir } from 'node:os';
import { requires, requiresLinux } from '@plantstore/test-support/requires';
import { runsAll } from '@plantstore/test-support/sample';
import { mayMount } from '@plantstore/test-support/small-disk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { confirm, createMachine, type Machine } from './machine.ts';
import type { Plan, Step } from './plan.ts';

/** An act with its choices, and the time until it is ended. */
type Chosen = readonly [act: string, chosen?: Step['chosen'], forMs?: number];

/** Fixed sequences of acts of each store, by what happens. */
const sequences: Readonly<
  Record<'sqlite' | 'postgres', Readonly<Record<string, readonly Chosen[]>>>
> = {
  sqlite: {
    'kills and stops under load': [
      ['end the server', { how: 'kill' }],
      ['end the server', { how: 'SIGINT' }],
      ['end the server', { how: 'SIGTERM twice', againMs: 5 }],
      ['start a second server'],
    ],
    'a disk that is full, fails or is slow': [
      ['fill the disk', {}, 1_000],
      ['fail calls', { call: 'write', error: 28, suffix: '-wal', share: 1_000 }],
      ['end the server', { how: 'kill' }],
      ['fail calls', { call: 'sync', error: 5, suffix: '*', share: 500 }],
      ['delay calls', { call: 'sync', ms: 700 }],
    ],
    'files that are moved away and back, or removed': [
      ['move files away and back', { what: 'file', ending: '', ms: 400 }],
      ['remove a file beside the database', { suffix: '-wal', ending: '' }],
      ['move files away and back', { what: 'files', ending: 'kill', ms: 400 }],
      ['remove a file beside the database', { suffix: '-shm', ending: '' }],
      ['move files away and back', { what: 'folder', ending: 'SIGTERM', ms: 400 }],
    ],
    'commands that are killed under load': [
      ['back up', { killAfterMs: 0 }],
      ['back up', { killAfterMs: 300 }],
      ['import', { count: 6_000, killAfterMs: 300, isStopped: 1 }],
      ['restore a backup'],
      ['import', { count: 300, killAfterMs: 0, isStopped: 1 }],
    ],
    'other programs that read, lock and change the file': [
      ['read with another program'],
      ['lock with another program', { kind: 'IMMEDIATE' }],
      ['change the file with another program', { statement: 'VACUUM', ending: '', killAfterMs: 4 }],
      ['change the file with another program', { statement: 'VACUUM', ending: 'kill' }],
    ],
  },
  postgres: {
    'restarts and crashes of the database under load': [
      ['restart the database', { signal: 'SIGINT', downMs: 0 }],
      ['restart the database', { signal: 'SIGQUIT', downMs: 0 }],
      ['end the sessions', { times: 20 }],
      ['crash after commits without a sync'],
      ['end the server', { how: 'kill' }],
    ],
    'a network that fails': [
      ['disturb the network', { mode: 'cut', ends: 0 }],
      ['end one side of each connection', { side: 'server' }],
      ['disturb the network', { mode: 'discard responses', ends: 0 }, 1_500],
      ['disturb the network', { mode: 'refuse', ends: 1 }],
      ['end the server', { how: 'SIGTERM' }],
    ],
    'locks and triggers': [
      ['lock the table', { mode: 'ACCESS EXCLUSIVE' }],
      ['lock an id', { id: 1, end: 'COMMIT' }, 1_500],
      ['leave plants out in a trigger', { ends: 0 }],
      ['refuse plants at the commit', { ends: 0 }],
      ['import', { count: 300, killAfterMs: 0, isStopped: 0 }],
    ],
  },
};

const isRoot = process.geteuid?.() === 0;
const mayFill = isRoot && (await mayMount(tmpdir()));
const requiresDisk = requires(mayFill, 'only root can mount a disk that becomes full');

const machineOf = async (store: 'sqlite' | 'postgres'): Promise<Machine> => {
  const machine = await createMachine(store);
  onTestFinished(machine.dispose);
  return machine;
};

const expectTrue = async (machine: Machine, plan: Plan) => {
  const outcome = await machine.run(plan);
  const confirmed = outcome.falsehoods.length > 0 && (await confirm(machine, plan, outcome));
  if (confirmed) expect(confirmed.falsehoods).toEqual([]);
  expect(outcome.checked).toBeGreaterThan(20);
};

describe.each(['sqlite', 'postgres'] as const)('%s', requiresLinux, (store) => {
  for (const [name, acts] of Object.entries(sequences[store])) {
    const isMounted = acts.some(([act]) => act === 'fill the disk');
    it(`what the program says is true after ${name}`, isMounted ? requiresDisk : {}, async () => {
      const machine = await machineOf(store);
      const waitMs = 150;
      const steps = acts.map(([act, chosen = {}, forMs = 500]) => ({ act, chosen, forMs, waitMs }));
      await expectTrue(machine, { ...machine.planOf(136, false), isMounted, steps });
    });
  }

  it('what the program says is true after random acts', async () => {
    const machine = await machineOf(store);
    for (let run = 0; run < (runsAll ? 3 : 1); run += 1) {
      const plan = machine.planOf(Math.floor(Math.random() * 2 ** 31), mayFill);
      console.log(`${store}: seed ${plan.seed}`);
      await expectTrue(machine, plan);
    }
  });
});
