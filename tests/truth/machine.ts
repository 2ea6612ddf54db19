import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Act, type Acts, type Plan, planOf, type Step } from './plan.ts';
import { postgresActs } from './postgres-acts.ts';
import { sqliteActs } from './sqlite-acts.ts';
import { statements } from './statements.ts';
import { createSqliteStore, startPostgresStores, type Store } from './stores.ts';
import { World } from './world.ts';

/** What a run has found: how many statements were compared, and what was found of those that are false. */
export type Outcome = {
  readonly checked: number;
  readonly falsehoods: readonly { readonly statement: string; readonly what: string }[];
};

/** Runs plans on one store. */
export type Machine = {
  readonly planOf: (seed: number, mayMount: boolean) => Plan;
  readonly run: (plan: Plan) => Promise<Outcome>;
  readonly dispose: () => Promise<void>;
};

/** Creates a machine. One of PostgreSQL starts a server. */
export async function createMachine(kind: 'sqlite' | 'postgres'): Promise<Machine> {
  if (kind === 'sqlite') {
    const create = async (plan: Plan, root: string) => createSqliteStore(root, plan.isMounted);
    return machineOf(sqliteActs, create, async () => {});
  }
  const { create, dispose } = await startPostgresStores();
  return machineOf(postgresActs, async ({ seed }) => create(seed % 2 === 0), dispose);
}

function machineOf<S extends Store>(
  acts: Acts<S>,
  create: (plan: Plan, root: string) => Promise<S>,
  dispose: Machine['dispose'],
): Machine {
  return {
    planOf: (seed, mayMount) => planOf(seed, acts, mayMount),
    dispose,
    async run(plan) {
      const root = mkdtempSync(join(tmpdir(), 'plantstore-truth-'));
      const world = new World(plan, root, await create(plan, root));
      try {
        await world.start();
        world.load();
        for (const step of plan.steps) await begin(world, acts[step.act], step);
        await world.finish();
        return judge(world);
      } finally {
        await world.dispose();
      }
    },
  };
}

/** Begins an act, which ends while other acts begin. */
async function begin<S extends Store>(world: World<S>, act: Act<S> | undefined, step: Step) {
  if (act === undefined) throw new Error(`there is no act "${step.act}"`);
  const [causes, , run] = act;
  await sleep(step.waitMs);
  const over = world.begin(...causes.split(' ').filter((one) => one !== ''));
  const begun = run(world, step);
  const ended = begun.then((end) => end && sleep(step.forMs).then(end));
  world.inBackground(step.act, ended.finally(over));
  await begun.catch(() => {});
}

/** Compares every statement. */
function judge(world: World): Outcome {
  let checked = 0;
  const falsehoods: { statement: string; what: string }[] = [];
  for (const [group, judgedOf] of Object.entries(statements)) {
    for (const { isTrue, name: statement = group, what, from = 0, to = Infinity } of judgedOf(
      world,
    )) {
      checked += 1;
      if (isTrue) continue;
      const causes = world.causesIn(from, to).join(', ') || 'none';
      falsehoods.push({ statement, what: `${what} | causes then: ${causes}` });
    }
  }
  return { checked, falsehoods };
}

/** Runs a plan again until the same statement is false; `undefined` if it never is. */
export async function repeat(
  machine: Machine,
  plan: Plan,
  { falsehoods }: Outcome,
  times = 3,
): Promise<Outcome | undefined> {
  const names = new Set(falsehoods.map(({ statement }) => statement));
  for (let time = 0; time < times; time += 1) {
    const outcome = await machine.run(plan);
    if (outcome.falsehoods.some(({ statement }) => names.has(statement))) return outcome;
  }
  return undefined;
}

/** Leaves out each step without which the same statement is false. */
export async function shorten(machine: Machine, plan: Plan, outcome: Outcome): Promise<Plan> {
  let { steps } = plan;
  for (const step of plan.steps) {
    const others = steps.filter((one) => one !== step);
    if (await repeat(machine, { ...plan, steps: others }, outcome, 2)) steps = others;
  }
  return { ...plan, steps };
}
