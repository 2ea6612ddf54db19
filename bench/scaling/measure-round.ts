import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PostgresServer } from '../../packages/postgres/test/postgres-server.ts';
import { startChild } from '../child.ts';
import { baseline } from '../contenders.ts';
import { type Contender, type Load, measure, type Measured } from '../measure.ts';
import type { Stores } from '../stores.ts';
import type { NothingKept } from './costs.ts';
import type { Wave } from './store.ts';

/** Where stores are made. */
export type Places = { readonly stores: Stores; readonly postgres: PostgresServer };

/** What was measured with so many connections. */
export type Point = {
  readonly store: StoreName;
  readonly connections: number;
  readonly measured: Measured;
};

/** One round: what each part does by itself, and what the whole reaches. */
export type Round = {
  readonly bare: Measured;
  readonly nothing: NothingKept;
  readonly alone: Readonly<Record<'sqlite' | 'postgres', readonly Wave[]>>;
  readonly points: readonly Point[];
};

/** The stores that are measured. */
export type StoreName = 'sqlite' | 'postgres' | 'postgres, slower';

/** How much slower the slower one commits. */
export const slowerByMs = 5;

const openersOf = ({ newFile, newDatabase }: Stores) =>
  ({
    sqlite: async () => newFile(),
    postgres: async () => newDatabase(),
    // As with a standby far away, or a slow disk: PostgreSQL itself waits before it syncs.
    'postgres, slower': async () =>
      newDatabase(`-ccommit_delay=${slowerByMs * 1e3} -ccommit_siblings=0`),
  }) satisfies Record<StoreName, () => Promise<string>>;

const contenderOf = (name: string, open: () => Promise<string>): Contender => ({
  name,
  group: 'ours',
  ids: 'random',
  program: async () => ({ file: 'servers/ours.ts', args: [await open()] }),
  core: 'any',
});

/** The id of a server's first process. */
const processOf = async ({ folder }: PostgresServer): Promise<string> =>
  (await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8')).split('\n')[0] ?? '';

/** Batches without HTTP, of one plant and of as many as a busy host has. */
const measureAlone = async (
  database: string,
  seconds: number,
  server: string,
): Promise<readonly Wave[]> => {
  const args = [database, '1,256', String(seconds), server];
  const child = startChild('scaling/store.ts', args, { core: 'any' });
  try {
    return (await child.next()) as readonly Wave[];
  } finally {
    await child.stop();
  }
};

const many = 64;

/** Measures everything once; every other round in the other direction. */
export const measureRound = async (
  places: Places,
  how: {
    readonly connections: readonly number[];
    readonly seconds: number;
    readonly isReversed: boolean;
  },
): Promise<Round> => {
  const load = (connections: number): Load => ({
    connections,
    seconds: how.seconds,
    warmUpSeconds: 0.7,
    warmUpConnections: many,
  });
  const inOrder = <T>(all: readonly T[]) => (how.isReversed ? all.toReversed() : all);
  const open = openersOf(places.stores);
  const nothing = contenderOf('nothing', async () => 'nothing');
  const bare = await measure({ ...baseline, core: 'any' }, load(many));
  const one = await measure(nothing, load(1));
  const alone = { sqlite: [] as readonly Wave[], postgres: [] as readonly Wave[] };
  const points: Point[] = [];
  for (const store of inOrder(['sqlite', 'postgres', 'postgres, slower'] as const)) {
    if (store !== 'postgres, slower')
      alone[store] = await measureAlone(
        await open[store](),
        how.seconds,
        store === 'postgres' ? await processOf(places.postgres) : '',
      );
    for (const connections of inOrder(how.connections)) {
      const measured = await measure(contenderOf(store, open[store]), load(connections));
      points.push({ store, connections, measured });
    }
  }
  return { bare, nothing: { one, many: await measure(nothing, load(many)) }, alone, points };
};
