// `pnpm test:truth`: runs random plans, and prints what was said and is not true.
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { mayMount } from '@plantstore/test-support/small-disk';
import { confirm, createMachine, type Machine, shorten } from './machine.ts';
import type { Step } from './plan.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    runs: { type: 'string', default: '20' },
    steps: { type: 'string' },
    shorten: { type: 'boolean', default: false },
  },
});
const mayFill = process.geteuid?.() === 0 && (await mayMount(tmpdir()));
if (!mayFill) console.log('Not on a disk of its own, which can be full: only root can mount one.');
const store = values.store === 'postgres' ? 'postgres' : 'sqlite';
const first = Number(values.seed);
let last = first + Number(values.runs) - 1;
let next = first;
let checked = 0;
// The runs that a signal finds are completed, so that their processes and mounts end, also if both
// a terminal and pnpm send it.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => (last = -1));
// Two at a time, because a run mostly waits.
await Promise.all([runNext(), runNext()]);
console.log(`${store}: ${next - first} runs from seed ${first}, ${checked} statements`);

async function runNext(): Promise<void> {
  const machine = await createMachine(store);
  try {
    while (next <= last) await runSeed(machine, next++);
  } finally {
    await machine.dispose();
  }
}

async function runSeed(machine: Machine, seed: number): Promise<void> {
  const made = machine.planOf(seed, mayFill);
  const steps = values.steps === undefined ? made.steps : (JSON.parse(values.steps) as Step[]);
  const plan = { ...made, steps };
  const outcome = await machine.run(plan);
  checked += outcome.checked;
  if (outcome.falsehoods.length === 0) return;
  const confirmed = await confirm(machine, plan, outcome);
  console.log(`seed ${seed}${confirmed ? '' : ', not repeated'}: ${JSON.stringify(steps)}`);
  for (const { statement, what } of (confirmed ?? outcome).falsehoods.slice(0, 5))
    console.log(`  ${statement}\n    ${what}`);
  if (confirmed === undefined) return;
  process.exitCode = 1;
  if (values.shorten)
    console.log(`  shortened: ${JSON.stringify((await shorten(machine, plan, confirmed)).steps)}`);
}
