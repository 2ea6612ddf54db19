import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { knownKinds } from './known-kinds.ts';
import type { Acts, Plan } from './plan.ts';
import { postgresActs } from './postgres-acts.ts';
import { sqliteActs } from './sqlite-acts.ts';
import { statements } from './statements.ts';
import { createSqliteStore, startPostgresStores, type Store } from './stores.ts';
import { World } from './world.ts';

/** A false statement: its name, and what was found. */
export type Falsehood = { readonly statement: string; readonly what: string };

export type Outcome = {
  readonly checked: number;
  readonly falsehoods: readonly Falsehood[];
  /** Known false statements: how often each was found, by what mends it. */
  readonly known: Readonly<Record<string, number>>;
};

/** Runs plans on one store. */
export type Machine = {
  readonly acts: Acts<never>;
  readonly run: (plan: Plan) => Promise<Outcome>;
  readonly dispose: () => Promise<void>;
};

/** Creates a machine. One of PostgreSQL starts a server. */
export async function createMachine(kind: 'sqlite' | 'postgres'): Promise<Machine> {
  if (kind === 'sqlite') {
    const create = async (root: string, plan: Plan) => createSqliteStore(root, plan.isMounted);
    return { acts: sqliteActs, run: runner(sqliteActs, create), dispose: async () => {} };
  }
  const { create, dispose } = await startPostgresStores();
  const run = runner(postgresActs, async (_, { seed }) => create(seed % 2 === 0));
  return { acts: postgresActs, run, dispose };
}

function runner<S extends Store>(
  acts: Acts<S>,
  create: (root: string, plan: Plan) => Promise<S>,
): Machine['run'] {
  return async (plan) => {
    const root = mkdtempSync(join(tmpdir(), 'plantstore-truth-'));
    const world = new World(plan, root, await create(root, plan));
    try {
      await world.start();
      world.load();
      for (const step of plan.steps) {
        await sleep(step.waitMs);
        const act = acts[step.act];
        if (act === undefined) throw new Error(`there is no act "${step.act}"`);
        const over = world.begin(...act.causes);
        const begun = act.run(world, step);
        const ended = begun.then((end) => end && sleep(step.forMs).then(end));
        world.inBackground(step.act, ended.finally(over));
        await begun.catch(() => {});
      }
      await world.finish();
      return judge(world);
    } finally {
      await world.dispose();
    }
  };
}

/** Compares every statement. */
function judge(world: World): Outcome {
  let checked = 0;
  const falsehoods: Falsehood[] = [];
  const known: Record<string, number> = {};
  for (const [group, judgedOf] of Object.entries(statements)) {
    for (const judged of judgedOf(world)) {
      checked += 1;
      if (judged.isTrue) continue;
      const statement = 'name' in judged ? String(judged.name) : group;
      const causes = world.causesIn(judged.from ?? 0, judged.to ?? Infinity);
      const what = `${judged.what} | causes then: ${causes.join(', ') || 'none'}`;
      const kind = knownKinds.find(
        (one) =>
          one.statement.test(statement) &&
          one.what?.test(judged.what) !== false &&
          one.causes?.some((cause) => causes.includes(cause)) !== false,
      );
      if (kind === undefined) falsehoods.push({ statement, what });
      else known[kind.subject] = (known[kind.subject] ?? 0) + 1;
    }
  }
  return { checked, falsehoods, known };
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
