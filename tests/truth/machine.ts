import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { type Act, ways } from './acts.ts';
import { load } from './clients.ts';
import { postgresActs, startPostgresStores } from './postgres.ts';
import { createSqlite, sqliteActs } from './sqlite.ts';
import { judge } from './statements.ts';
import { shell } from './store.ts';
import { World } from './world.ts';

/** A run: its acts in their order, and a seed, which their times follow from, too. */
export type Plan = { readonly seed: number; readonly acts: readonly string[] };

/** Maximum time of a run, in milliseconds. Two take less than the maximum time of a test. */
const maxRunMs = 250_000;
const sqliteStores = { create: createSqlite, dispose: async () => {} };

/** Creates what runs plans on one store. For PostgreSQL, it starts a server. */
export async function createMachine(store: string) {
  const table = store === 'sqlite' ? sqliteActs : postgresActs;
  const { create, dispose } = store === 'sqlite' ? sqliteStores : await startPostgresStores();
  const byName = new Map(table.flat().map((act) => [act.name, act]));
  const rows = table.map((row) => fc.constantFrom(...row.map(({ name }) => name)));
  const lists = fc.array(fc.oneof(...rows), { minLength: 3, maxLength: 8, size: 'max' });
  return { planOf, check, shorten, dispose };

  function planOf(seed: number): Plan {
    return { seed, acts: fc.sample(lists, { seed, numRuns: 1 }).flat() };
  }

  /** Runs a plan, and up to three times again if its false statements can be of a busy machine. */
  async function check(plan: Plan) {
    const { checked, falsehoods } = await run(plan);
    const names = falsehoods.map(({ statement }) => statement);
    const isAboutPlants = (name: string) => /plant|database/.test(name);
    let isConfirmed = names.some(isAboutPlants);
    for (let left = 3; names.length > 0 && !isConfirmed && left > 0; left -= 1) {
      const again = (await run(plan)).falsehoods;
      isConfirmed = again.some(
        (one) => isAboutPlants(one.statement) || names.includes(one.statement),
      );
      falsehoods.unshift(...again);
    }
    return { checked, falsehoods, isConfirmed };
  }

  async function run(plan: Plan): Promise<World> {
    const root = mkdtempSync(join(tmpdir(), 'plantstore-truth-'));
    const world = new World(root, await create(plan.seed, root));
    const hangs = sleep(maxRunMs, 'it hangs', { ref: false }).then((why) => Promise.reject(why));
    try {
      await Promise.race([performAll(plan, world), hangs]);
      judge(world);
    } catch (thrown) {
      world.compare('a run ends', false, { thrown });
    } finally {
      await world.dispose();
    }
    return world;
  }

  async function performAll({ seed, acts }: Plan, world: World): Promise<void> {
    await shell('echo 0 > $ROOT/counts; eval "$RENEW_TOKENS"; eval "$RENEW_TLS"', world.variables);
    await world.start();
    const loaded = load(world);
    const ends: Promise<void>[] = [];
    for (const [index, name] of acts.entries()) {
      const act = byName.get(name);
      if (act === undefined) throw new Error(`there is no act "${name}"`);
      await sleep(((seed + index) * 89) % 500);
      const end = await begin(act, world);
      const ended = end([50, 300, 1_000, 2_500][(seed + index) % 4]).catch((thrown: unknown) =>
        world.compare('an act ends', false, { name, thrown }),
      );
      // Others end while other acts begin.
      if (act.causes.includes('alone')) await ended;
      ends.push(ended);
      await world.start();
    }
    await Promise.all(ends);
    await world.finish(loaded);
  }

  /** Begins an act. Resolves to a function that ends it after a time in milliseconds. */
  async function begin(act: Act, world: World) {
    const cause = { names: act.causes, from: performance.now(), begun: Infinity, to: Infinity };
    world.causes.push(cause);
    const end = await { ...ways, ...world.store.ways }[act.way]?.(world, act);
    cause.begun = performance.now();
    return async (forMs = 0) => {
      if (end) await sleep(forMs);
      await end?.();
      cause.to = performance.now();
    };
  }

  /** Leaves out each act without which a statement is false, too. */
  async function shorten({ seed, acts: all }: Plan): Promise<string> {
    let acts = all;
    for (const one of all) {
      const others = acts.filter((other) => other !== one);
      if ((await check({ seed, acts: others })).isConfirmed) acts = others;
    }
    return acts.join(', ');
  }
}
