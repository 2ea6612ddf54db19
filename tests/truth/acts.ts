import { execFileSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import { actOn, type Acts } from './plan.ts';
import { type Store, textOf } from './store.ts';
import type { World } from './world.ts';

const act = actOn<Store>();
const endings = ['kill', 'kill', 'SIGTERM', 'SIGINT', 'SIGTERM twice'] as const;

/** Acts on a server of either store. */
export const acts: Acts<Store> = {
  'end the server': act(
    10,
    '',
    { how: endings, againMs: [0, 5, 30, 200] },
    async (world, chosen) => {
      await world.end(chosen.how, chosen.againMs);
      await world.startAgain();
    },
  ),
  'suspend the server': act(2, 'slow', {}, async ({ server }) => {
    server?.child.kill('SIGSTOP');
    return async () => server?.child.kill('SIGCONT');
  }),
  'limit the open files': act(2, 'limits', { count: [25, 40] }, async ({ server }, { count }) => {
    const limit = (files: number) =>
      server?.to === Infinity &&
      execFileSync('prlimit', [`--pid=${server.child.pid}`, `--nofile=${files}:`]);
    limit(count);
    return async () => limit(1_024);
  }),
  'renew the tokens': act(2, '', { count: [1, 2, 3, 4] }, async (world, { count }) =>
    world.setTokens(count),
  ),
  'remove the tokens': act(2, 'tokens', {}, async ({ tokensFile }) => {
    renameSync(tokensFile, `${tokensFile}.away`);
    return async () => renameSync(`${tokensFile}.away`, tokensFile);
  }),
  export: act(2, 'command', {}, async (world) => world.export()),
  check: act(2, 'command', {}, async (world) => void (await world.command(['check']))),
  import: act(
    3,
    'command',
    { count: [5, 300, 6_000], killAfterMs: [0, 0, 150, 300], isStopped: [0, 1] },
    importPlants,
  ),
};

/** Imports new, known and invalid plants, and compares what the command says with the disk. */
async function importPlants(
  world: World,
  { count, killAfterMs, isStopped }: Record<'count' | 'killAfterMs' | 'isStopped', number>,
): Promise<void> {
  if (isStopped === 1) await world.end('SIGTERM');
  const before = (await world.store.read()).rows;
  const known = [...(isStopped === 1 ? before.keys() : [])].slice(0, 400);
  const plants = Array.from({ length: count }, (_, index): [id: string, text: string] => {
    const kind = world.random.below(4);
    const id = (kind === 1 && world.random.of(known)) || world.freshId();
    const stored = index % 2 === 0 ? before.get(id) : undefined;
    return [kind === 0 ? '1.5' : id, stored ?? textOf(`imported ${index}`)];
  });
  for (const [id, text] of plants) world.written.add(id + text);
  const input = plants.map(([id, text]) => `${world.lineOf(id, text)}\n`).join('');
  const { child, stdout, stderr } = await world.command(['import'], input, killAfterMs);
  const after = (await world.store.read()).rows;
  const isFound = ([id, text]: [string, string]) => after.get(id) === text;
  const isKnown = ([id]: [string, string]) => before.has(id);
  const created = plants.filter((plant) => isFound(plant) && !isKnown(plant)).length;
  const existing = plants.filter((plant) => isFound(plant) && isKnown(plant)).length;
  const refused = plants.length - created - existing;
  const said = /^(\d+) plants? created.*?, (\d+) already there, (\d+) refused/m.exec(stdout);
  const [saidCreated = 0, ...saidOthers] = (said ?? []).slice(1).map(Number);
  const wanted = `${created}, ${existing}, ${refused}`;
  const found = `${stdout}, not ${wanted}, status ${child.exitCode}, ${stderr.slice(-200)}`;
  if (child.exitCode === 0 || child.exitCode === 3) {
    const isExact = [saidCreated, ...saidOthers].join(', ') === wanted;
    world.compare('an import counts the plants on the disk', isExact, found);
    const named = stderr.match(/^(plantstore: )?line/gm)?.length ?? 0;
    const isNamed = named === refused && (child.exitCode === 3) === refused > 0;
    world.compare('an import names each refused line', isNamed, `${named}: ${found}`);
  } else if (isStopped === 1) {
    world.compare('an import counts no plant that is not stored', saidCreated <= created, found);
  }
  await world.startAgain();
}
