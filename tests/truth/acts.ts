import { renameSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { act, type Acts } from './plan.ts';
import { countIn, type World } from './world.ts';

/** Acts on a server of either store. */
export const acts: Acts = {
  'kill the server': act(
    '',
    {},
    async (world) => {
      await world.kill();
      await world.startAgain();
    },
    4,
  ),
  'stop the server': act(
    '',
    { signal: ['SIGTERM', 'SIGINT'] },
    async (world, { signal }) => {
      await world.stop(undefined, signal as NodeJS.Signals);
      await world.startAgain();
    },
    3,
  ),
  'stop the server twice': act('', { gapMs: [0, 5, 30, 200] }, async (world, { gapMs }) => {
    await world.stop(Number(gapMs));
    await world.startAgain();
  }),
  'stop the server again right after its last line': act('', {}, async (world) => {
    const { life } = world;
    const stopped = world.stop();
    life?.child.stdout.on(
      'data',
      () => life.log.includes('"stopped"') && life.child.kill('SIGTERM'),
    );
    await stopped;
    await world.startAgain();
  }),
  'suspend the server': act('frozen', {}, async ({ life }) => {
    life?.child.kill('SIGSTOP');
    return async () => void life?.child.kill('SIGCONT');
  }),
  'stop the suspended server': act(
    'frozen',
    {},
    async (world, { forMs }) => {
      world.life?.child.kill('SIGSTOP');
      const stopped = world.stop();
      await sleep(forMs);
      world.life?.child.kill('SIGCONT');
      await stopped;
      await world.startAgain();
    },
    1,
  ),
  'send another signal': act(
    '',
    { signal: ['SIGHUP', 'SIGUSR2'] },
    async ({ life }, { signal }) => {
      life?.child.kill(signal as NodeJS.Signals);
    },
    1,
  ),
  'renew the tokens': act('', { count: [1, 2, 3, 4] }, async (world, { count }) => {
    world.setTokens(Number(count));
  }),
  'remove the tokens': act('tokens', {}, async ({ tokensFile }) => {
    renameSync(tokensFile, `${tokensFile}.away`);
    return async () => renameSync(`${tokensFile}.away`, tokensFile);
  }),
  export: act('command', {}, async (world) => {
    await world.export();
  }),
  check: act('command', {}, async (world) => {
    const sent = world.sent.filter(({ id }) => id !== undefined);
    const acknowledged = new Set(
      sent.flatMap(({ status, id, from }) => (status === 200 && from > world.lostAt ? [id] : [])),
    );
    const done = await world.command(['check']);
    const most = world.sent.length + world.written.size;
    const said = countIn(done.stdout, '');
    const isTrue = done.status !== 0 || (said >= acknowledged.size && said <= most);
    world.compare(
      'a check counts each acknowledged plant',
      isTrue,
      `${said} of ${acknowledged.size}`,
    );
  }),
  import: act(
    'command second',
    { count: [5, 300, 6_000], killAfterMs: [0, 0, 150, 300], readAfterMs: [0, 0, 3_000] },
    importPlants,
    3,
  ),
};

/** Imports new, known and invalid plants, and compares what the command says with the difference on the disk. */
async function importPlants(
  world: World,
  { count, killAfterMs, readAfterMs }: Readonly<Record<string, string | number>>,
): Promise<void> {
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
    const isSame = id === knownId && index % 2 === 0;
    const [name, tag] = isSame
      ? (JSON.parse(knownText) as [string, string | null])
      : [`imported ${index}`, null];
    const text = JSON.stringify([name, tag]);
    world.write(id, text);
    if (!rows.has(id)) expected.created += 1;
    else if (rows.get(id) === text) expected.existing += 1;
    else expected.refused += 1;
    if (!rows.has(id)) rows.set(id, text);
    return JSON.stringify({ id: 0, name, tag: tag ?? undefined }).replace('0', id);
  });
  const done = await world.command(['import'], {
    input: `${lines.join('\n')}\n`,
    readAfterMs: Number(readAfterMs),
    ...(Number(killAfterMs) > 0 && { killAfterMs: Number(killAfterMs) }),
  });
  const after = (await world.store.read()).rows;
  const numbers = /(\d+) plants? created.*?, (\d+) already there, (\d+) refused/.exec(done.stdout);
  const [created = 0, existing = 0, refused = 0] = (numbers ?? []).slice(1).map(Number);
  const said = JSON.stringify({ created, existing, refused });
  const found = `${said}, expected ${JSON.stringify(expected)}, status ${done.status}, ${done.stderr.slice(-200)}`;
  const kept = [...rows].filter(([id, text]) => after.get(id) === text).length;
  const isWhole = done.status === 0 || done.status === 3;
  if (isWhole) {
    const isExact = said === JSON.stringify(expected) && kept === rows.size;
    world.compare(
      'an import counts what it has created',
      isExact,
      `${found}, ${kept} of ${rows.size}`,
    );
    const named = done.stderr
      .split('\n')
      .filter((line) => /^(plantstore: )?line/.test(line)).length;
    world.compare('an import names each refused line', named === refused, `${named}: ${found}`);
    world.compare(
      'an import says whether lines were refused',
      (done.status === 3) === refused > 0,
      found,
    );
  } else if (isAlone) {
    const isStored = created <= after.size - before.size;
    world.compare('an import counts no plant that is not stored', isStored, found);
    world.compare(
      'a failed import has a summary',
      done.isKilled || numbers !== null || before.size === after.size,
      found,
    );
  }
  await world.startAgain();
}
