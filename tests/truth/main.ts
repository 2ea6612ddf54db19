// `pnpm test:truth`: makes random runs, and prints false statements of the program, five of a plan.
import { parseArgs } from 'node:util';
import { createMachine } from './machine.ts';
import { mayFill } from './store.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    runs: { type: 'string', default: '20' },
    acts: { type: 'string' },
    shorten: { type: 'boolean', default: false },
  },
});
if (!mayFill) console.log('No disk is filled: this user cannot mount one on this machine.');
const first = Number(values.seed);
let last = first + Number(values.runs) - 1;
let next = first;
let checked = 0;
// A signal lets the current runs end, with their processes and mounts, also if a terminal and pnpm
// both send it.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => (last = -1));
// Several at a time, because a run mostly waits.
await Promise.all(Array.from({ length: Math.min(4, Number(values.runs)) }, runNext));
console.log(`${values.store}: ${next - first} runs from seed ${first}, ${checked} statements`);

async function runNext(): Promise<void> {
  const { planOf, check, shorten, dispose } = await createMachine(values.store);
  while (next <= last) {
    const seed = next++;
    const plan = values.acts ? { seed, acts: values.acts.split(', ') } : planOf(seed);
    const { checked: compared, falsehoods, isConfirmed } = await check(plan);
    checked += compared;
    if (falsehoods.length === 0) continue;
    console.log(`--seed ${seed} --acts '${plan.acts.join(', ')}'`, falsehoods.slice(0, 5));
    if (!isConfirmed) console.log('It was not repeated.');
    else process.exitCode = 1;
    if (isConfirmed && values.shorten) console.log(`shortened: ${await shorten(plan)}`);
  }
  await dispose();
}
