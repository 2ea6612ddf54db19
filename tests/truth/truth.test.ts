import { tmpdir } from 'node:os';
import { requires, requiresLinux } from '@plantstore/test-support/requires';
import { runsAll } from '@plantstore/test-support/sample';
import { mayMount } from '@plantstore/test-support/small-disk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { planOf } from './plan.ts';
import { createMachine, type Machine, repeat } from './run-plan.ts';
import { planOfSequence, sequences } from './sequences.ts';

const isRoot = process.geteuid?.() === 0;
const mayFill = isRoot && (await mayMount(tmpdir()));
const requiresDisk = requires(mayFill, 'only root can mount a disk that becomes full');

const machineOf = async (store: 'sqlite' | 'postgres'): Promise<Machine> => {
  const machine = await createMachine(store);
  onTestFinished(machine.dispose);
  return machine;
};

const expectTrue = async (machine: Machine, plan: Parameters<Machine['run']>[0]) => {
  const outcome = await machine.run(plan);
  const isBelieved = outcome.falsehoods.length > 0 && (await repeat(machine, plan, outcome));
  if (isBelieved) expect(outcome.falsehoods).toEqual([]);
  expect(outcome.checked).toBeGreaterThan(20);
};

describe.each(['sqlite', 'postgres'] as const)('%s', requiresLinux, (store) => {
  for (const [name, acts] of Object.entries(sequences[store])) {
    const isMounted = acts.some(([act]) => act === 'fill the disk');
    it(`what the program says is true after ${name}`, isMounted ? requiresDisk : {}, async () =>
      expectTrue(await machineOf(store), planOfSequence(acts, isMounted)),
    );
  }

  it('what the program says is true after random acts', async () => {
    const machine = await machineOf(store);
    for (let run = 0; run < (runsAll ? 3 : 1); run += 1) {
      const plan = planOf(Math.floor(Math.random() * 2 ** 31), machine.acts, mayFill);
      console.log(`${store}: seed ${plan.seed}`);
      await expectTrue(machine, plan);
    }
  });
});
