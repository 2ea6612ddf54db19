import { renameSync } from 'node:fs';
import type { Acts, Step } from './plan.ts';
import type { World } from './world.ts';

/** Acts on a server of either store. */
export const acts: Acts = {
  'kill the server': [
    '',
    {},
    async (world) => {
      await world.kill();
      await world.startAgain();
    },
    4,
  ],
  'stop the server': [
    '',
    { signal: ['SIGTERM', 'SIGINT'] },
    async (world, { signal }) => {
      await world.stop(signal as NodeJS.Signals);
      await world.startAgain();
    },
    3,
  ],
  'stop the server twice': [
    '',
    { again: [0, 5, 30, 200, 'after its last line'] },
    async (world, { again }) => {
      await world.stop('SIGTERM', again);
      await world.startAgain();
    },
    4,
  ],
  'suspend the server': [
    'frozen',
    {},
    async ({ life }) => {
      life?.child.kill('SIGSTOP');
      return async () => void life?.child.kill('SIGCONT');
    },
  ],
  'renew the tokens': [
    '',
    { count: [1, 2, 3, 4] },
    async (world, { count }) => world.setTokens(Number(count)),
  ],
  'remove the tokens': [
    'tokens',
    {},
    async ({ tokensFile }) => {
      renameSync(tokensFile, `${tokensFile}.away`);
      return async () => renameSync(`${tokensFile}.away`, tokensFile);
    },
  ],
  export: ['command', {}, async (world) => world.export()],
  check: ['command', {}, async (world) => void (await world.command(['check']))],
  import: [
    'command second',
    { count: [5, 300, 6_000], killAfterMs: [0, 0, 150, 300] },
    importPlants,
    3,
  ],
};

/** Imports new, known and invalid plants, and compares what the command says with the difference on the disk. */
async function importPlants(world: World, { count, killAfterMs }: Step): Promise<void> {
  const isAlone = !world.store.database.startsWith('postgres:');
  if (isAlone) await world.stop();
  const before = (await world.store.read()).rows;
  const known = [...before].slice(0, 400);
  const rows = new Map(before);
  const expected = { created: 0, existing: 0, refused: 0 };
  const lines = Array.from({ length: Number(count) }, (_, index) => {
    const kind = world.random.below(4);
    const [knownId, knownText = ''] = known[world.random.below(known.length)] ?? [];
    if (kind === 0) {
      expected.refused += 1;
      return '{"id":1.5,"name":"n"}';
    }
    const id = kind === 1 && knownId !== undefined && isAlone ? knownId : String(world.freshId());
    const text =
      id === knownId && index % 2 === 0 ? knownText : JSON.stringify([`imported ${index}`, null]);
    world.write(id, text);
    if (!rows.has(id)) expected.created += 1;
    else expected[rows.get(id) === text ? 'existing' : 'refused'] += 1;
    if (!rows.has(id)) rows.set(id, text);
    const [name, tag] = JSON.parse(text) as [string, string | null];
    return JSON.stringify({ id: 0, name, tag: tag ?? undefined }).replace('0', id);
  });
  const done = await world.command(['import'], `${lines.join('\n')}\n`, Number(killAfterMs));
  const after = (await world.store.read()).rows;
  const numbers = /(\d+) plants? created.*?, (\d+) already there, (\d+) refused/.exec(done.stdout);
  const [created = 0, existing = 0, refused = 0] = (numbers ?? []).slice(1).map(Number);
  const said = JSON.stringify({ created, existing, refused });
  const found = `${said}, expected ${JSON.stringify(expected)}, status ${done.status}, ${done.stderr.slice(-200)}`;
  if (done.status === 0 || done.status === 3) {
    const kept = [...rows].filter(([id, text]) => after.get(id) === text).length;
    const isExact = said === JSON.stringify(expected) && kept === rows.size;
    world.compare('an import counts what it has created', isExact, `${found}, kept ${kept}`);
    const named = done.stderr.match(/^(plantstore: )?line/gm)?.length ?? 0;
    world.compare('an import names each refused line', named === refused, `${named}: ${found}`);
    const isSaid = (done.status === 3) === refused > 0;
    world.compare('an import says whether lines were refused', isSaid, found);
  } else if (isAlone) {
    const isStored = created <= after.size - before.size;
    world.compare('an import counts no plant that is not stored', isStored, found);
  }
  await world.startAgain();
}
