// `pnpm test:truth`: runs random plans, and prints what was said and is not true.
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { mayMount } from '@plantstore/test-support/small-disk';
import { createMachine, repeat, shorten } from './machine.ts';
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
const machine = await createMachine(values.store === 'postgres' ? 'postgres' : 'sqlite');
let runs = 0;
let checked = 0;
const first = Number(values.seed);
let last = first + Number(values.runs) - 1;
// The run that a signal finds is completed, so that its processes and mounts end,
// also if both a terminal and pnpm send it.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => (last = -1));
try {
  for (let seed = first; seed <= last; seed += 1) {
    const made = machine.planOf(seed, mayFill);
    const steps = values.steps === undefined ? made.steps : (JSON.parse(values.steps) as Step[]);
    const plan = { ...made, steps };
    const outcome = await machine.run(plan);
    runs += 1;
    checked += outcome.checked;
    if (outcome.falsehoods.length === 0) continue;
    const again = await repeat(machine, plan, outcome);
    console.log(`seed ${seed}${again ? '' : ', not repeated'}: ${JSON.stringify(steps)}`);
    for (const { statement, what } of (again ?? outcome).falsehoods.slice(0, 5))
      console.log(`  ${statement}\n    ${what}`);
    if (again === undefined) continue;
    process.exitCode = 1;
    if (values.shorten)
      console.log(`  shortened: ${JSON.stringify((await shorten(machine, plan, again)).steps)}`);
  }
} finally {
  await machine.dispose();
}
console.log(`${values.store}: ${runs} runs from seed ${first}, ${checked} statements`);
