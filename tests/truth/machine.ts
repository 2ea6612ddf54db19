import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { type Acts, type Plan, planOf, type Step } from './plan.ts';
import { postgresActs } from './postgres-acts.ts';
import { startPostgresStores } from './postgres-store.ts';
import { sqliteActs } from './sqlite-acts.ts';
import { createSqliteStore } from './sqlite-store.ts';
import { type Falsehood, judge } from './statements.ts';
import type { Store } from './store.ts';
import { now, World } from './world.ts';

/** How many statements were compared, and those that are false. */
export type Outcome = { readonly checked: number; readonly falsehoods: readonly Falsehood[] };

/** Runs plans on one store. */
export type Machine = {
  readonly planOf: (seed: number, mayMount: boolean) => Plan;
  readonly run: (plan: Plan) => Promise<Outcome>;
  readonly dispose: () => Promise<void>;
};

/** Creates a machine. One of PostgreSQL starts a server. */
export async function createMachine(kind: 'sqlite' | 'postgres'): Promise<Machine> {
  if (kind === 'sqlite') return machineOf(sqliteActs, createSqliteStore, async () => {});
  const { create, dispose } = await startPostgresStores();
  return machineOf(postgresActs, create, dispose);
}

function machineOf<S extends Store>(
  acts: Acts<S>,
  createStore: (plan: Plan, root: string) => Promise<S>,
  dispose: Machine['dispose'],
): Machine {
  return {
    planOf: (seed, mayMount) => planOf(seed, acts, mayMount),
    dispose,
    async run(plan) {
      const root = mkdtempSync(join(tmpdir(), 'plantstore-truth-'));
      const world = new World(plan, root, await createStore(plan, root));
      try {
        await world.start();
        world.load();
        const begun = new Map<string, { readonly ended: Promise<void> }>();
        for (const step of plan.steps) {
          // An act does not overlap itself.
          await begun.get(step.act)?.ended;
          begun.set(step.act, await begin(step, world));
        }
        for (const { ended } of begun.values()) await ended;
        await world.finish();
        return judge(world);
      } finally {
        await world.dispose();
      }
    },
  };

  /** Begins an act, which ends while other acts begin. */
  async function begin({ act: name, chosen, waitMs, forMs }: Step, world: World<S>) {
    const act = acts[name];
    if (act === undefined) throw new Error(`there is no act "${name}"`);
    const failed = (thrown: unknown) =>
      world.compare('an act ends', false, `${name}: ${inspect(thrown)}`);
    await sleep(waitMs);
    const [from, names] = [now(), act.causes.split(' ')];
    const cause = { names, from, begunAt: Infinity, endsAt: Infinity, to: Infinity };
    if (act.causes !== '') world.causes.push(cause);
    const end = await act.begin(world, chosen as never).catch(failed);
    cause.begunAt = now();
    return { ended: endLater() };

    async function endLater() {
      if (end) await sleep(forMs);
      cause.endsAt = now();
      if (end) await end().catch(failed);
      cause.to = now();
    }
  }
}

/** Returns a false outcome if it counts: a busy machine cannot cause it, or it was repeated. */
export async function confirm(machine: Machine, plan: Plan, outcome: Outcome) {
  const isOfPlants = outcome.falsehoods.some(({ statement }) => /plant|database/.test(statement));
  return isOfPlants ? outcome : repeat(machine, plan, outcome, 3);
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

/** Runs a plan until the same statement is false; resolves to `undefined` if it never is. */
async function repeat(machine: Machine, plan: Plan, { falsehoods }: Outcome, times: number) {
  const names = new Set(falsehoods.map(({ statement }) => statement));
  for (let time = 0; time < times; time += 1) {
    const again = await machine.run(plan);
    if (again.falsehoods.some(({ statement }) => names.has(statement))) return again;
  }
  return undefined;
}
