// `pnpm test:truth`: runs random plans, and prints what was said and is not true.
import { parseArgs } from 'node:util';
import { createMachine, type Machine, type Plan } from './machine.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    runs: { type: 'string', default: '20' },
    steps: { type: 'string' },
    shorten: { type: 'boolean', default: false },
  },
});
const first = Number(values.seed);
let last = first + Number(values.runs) - 1;
let next = first;
let checked = 0;
// The runs that a signal finds are completed, so that their processes and mounts end, also if both
// a terminal and pnpm send it.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => (last = -1));
// Several at a time, because a run mostly waits.
await Promise.all([runNext(), runNext(), runNext(), runNext()]);
console.log(`${values.store}: ${next - first} runs from seed ${first}, ${checked} statements`);

async function runNext(): Promise<void> {
  const machine = await createMachine(values.store);
  try {
    while (next <= last) await runSeed(machine, next++);
  } finally {
    await machine.dispose();
  }
}

async function runSeed(machine: Machine, seed: number): Promise<void> {
  const steps = values.steps && (JSON.parse(values.steps) as Plan['steps']);
  const plan = steps ? { seed, steps } : machine.planOf(seed);
  const outcome = await machine.check(plan);
  checked += outcome.checked;
  if (outcome.falsehoods.length === 0) return;
  const { isConfirmed } = outcome;
  console.log(`seed ${seed}${isConfirmed ? '' : ', not repeated'}: ${JSON.stringify(plan.steps)}`);
  for (const { statement, what } of outcome.falsehoods.slice(0, 5))
    console.log(`  ${statement}\n    ${what}`);
  if (!isConfirmed) return;
  process.exitCode = 1;
  if (values.shorten) console.log(`  shortened: ${JSON.stringify(await machine.shorten(plan))}`);
}
