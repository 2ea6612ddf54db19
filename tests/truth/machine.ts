import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { ways } from './acts.ts';
import { postgresActs, startPostgresStores } from './postgres.ts';
import { sqliteActs, sqliteStores } from './sqlite.ts';
import { judgeRun, type Outcome } from './statements.ts';
import { shell } from './store.ts';
import { now, World } from './world.ts';

/** The name of an act, the time since the one before it has begun, and until it is ended. */
type Step = { readonly act: string; readonly waitMs: number; readonly forMs: number };

/** A run: a seed, which its settings follow from, and its acts in their order. */
export type Plan = { readonly seed: number; readonly steps: readonly Step[] };

export type Machine = Awaited<ReturnType<typeof createMachine>>;

/** Creates what runs plans on one store. For PostgreSQL, it starts a server. */
export async function createMachine(store: string) {
  const kinds = store === 'sqlite' ? sqliteActs : postgresActs;
  const { create, dispose } = await (store === 'sqlite' ? sqliteStores : startPostgresStores());
  const byName = new Map(kinds.flatMap(({ acts }) => acts.map((act) => [act.name, act])));
  const step = fc.record({
    act: fc.oneof(
      ...kinds.map(({ weight, acts }) => ({
        weight,
        arbitrary: fc.constantFrom(...acts.map(({ name }) => name)),
      })),
    ),
    waitMs: fc.constantFrom(0, 0, 50, 100, 200, 500),
    forMs: fc.constantFrom(50, 300, 1_000, 3_000),
  });
  const plans = fc.array(step, { minLength: 3, maxLength: 8, size: 'max' });
  return { planOf, run, check, shorten, dispose };

  function planOf(seed: number): Plan {
    const [steps = []] = fc.sample(plans, { seed, numRuns: 1 });
    return { seed, steps };
  }

  async function run({ seed, steps }: Plan): Promise<Outcome> {
    const root = mkdtempSync(join(tmpdir(), 'plantstore-truth-'));
    const world = new World(seed, root, await create(seed, root));
    try {
      await shell('eval "$RENEW_TOKENS"; eval "$RENEW_TLS"', world.variables);
      await world.start();
      world.load();
      const begun = new Map<string, Promise<void>>();
      for (const one of steps) {
        // An act does not overlap itself.
        await begun.get(one.act);
        begun.set(one.act, (await begin(one, world)).ended);
        await world.start();
      }
      await Promise.all(begun.values());
      await world.finish();
      return judgeRun(world);
    } catch (thrown) {
      return { checked: 1, falsehoods: [{ statement: 'a run ends', what: inspect(thrown) }] };
    } finally {
      await world.dispose();
    }
  }

  /** Begins an act, which ends while other acts begin, unless it is alone. */
  async function begin({ act: name, waitMs, forMs }: Step, world: World) {
    const act = byName.get(name);
    const perform = act && { ...ways, ...world.store.ways }[act.way];
    if (act === undefined || perform === undefined) throw new Error(`there is no act "${name}"`);
    await sleep(waitMs);
    const cause = world.addCause(act.causes);
    const failed = (thrown: unknown) =>
      world.compare('an act ends', false, `${name}: ${inspect(thrown)}`);
    const end = await perform(world, act).catch(failed);
    cause.begunAt = now();
    const ended = endLater();
    if (act.causes.includes('alone')) await ended;
    return { ended };

    async function endLater(): Promise<void> {
      if (end) await sleep(forMs);
      cause.endsAt = now();
      await end?.().catch(failed);
      cause.to = now();
    }
  }

  /** Runs a plan, again if a busy machine can make its false statements false. */
  async function check(plan: Plan): Promise<Outcome & { readonly isConfirmed: boolean }> {
    const outcome = await run(plan);
    const names = new Set(outcome.falsehoods.map(({ statement }) => statement));
    let isConfirmed = [...names].some((name) => /plant|database/.test(name));
    for (let left = 3; names.size > 0 && !isConfirmed && left > 0; left -= 1) {
      const { falsehoods } = await run(plan);
      isConfirmed = falsehoods.some(({ statement }) => names.has(statement));
    }
    return { ...outcome, isConfirmed };
  }

  /** Leaves out each step without which a statement is false, too. */
  async function shorten({ seed, steps: all }: Plan): Promise<readonly Step[]> {
    let steps = all;
    for (const one of all) {
      const others = steps.filter((other) => other !== one);
      if ((await check({ seed, steps: others })).isConfirmed) steps = others;
    }
    return steps;
  }
}
