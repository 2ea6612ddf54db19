// Measures the program with few and many clients on each store, and the bytes per plant of each store.
import { randomFillSync } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { PlantRepository } from '@plantstore/core';
import { openPostgresRepository } from '@plantstore/postgres';
import { openSqliteRepository } from '@plantstore/sqlite';
import { connectSql } from '@plantstore/test-support/sql-client';
import type { Result } from 'neverthrow';
import { type Stores, wholeServer } from './contenders.ts';
import type { Load } from './load.ts';
import type { Parts, Storage } from './results.ts';
import { type Contender, runRounds } from './rounds.ts';
import { measureServer } from './server.ts';
import { withStores } from './servers.ts';

const clients = [1, 64, 256];

const contendersOf = ({ newFile, newDatabase }: Stores, load: Load): readonly Contender[] =>
  [
    { section: 'SQLite', open: () => `sqlite:${newFile()}` },
    { section: 'PostgreSQL', open: async () => newDatabase() },
    {
      section: 'PostgreSQL, each commit 5 ms slower',
      open: async () => newDatabase({ commitDelayMs: 5 }),
    },
  ].flatMap(({ section, open }) =>
    clients.map((connections) => ({
      name: String(connections),
      section,
      measure: async () =>
        measureServer(
          {
            name: section,
            ids: 'random',
            core: 'any',
            program: async (port) => wholeServer(port, await open(), newFile()),
          },
          { ...load, connections },
        ),
    })),
  );

const plants = 300_000;
const creators = 64;

const valueOf = <T>(result: Result<T, { readonly kind: string }>): T => {
  if (result.isErr()) throw new Error(result.error.kind);
  return result.value;
};

/** Creates plants as 64 clients do: each waits for its create before the next. */
const fill = async (repository: PlantRepository, ids: BigInt64Array): Promise<void> => {
  const left = ids.values();
  const createMany = async () => {
    for (const id of left)
      valueOf(await repository.create({ id, name: 'Monstera', tag: 'climber' }));
  };
  await Promise.all(Array.from({ length: creators }, createMany));
};

/** Written bytes of this process, which Linux counts in blocks of 512. */
const writtenBytes = (): number => process.resourceUsage().fsWrite * 512;

const measureSqlite = async (path: string, ids: BigInt64Array) => {
  const before = writtenBytes();
  const repository = valueOf(await openSqliteRepository({ path }));
  await fill(repository, ids);
  await repository.close();
  return {
    sqlite: (await stat(path)).size / plants,
    sqliteWritten: (writtenBytes() - before) / plants,
  };
};

const measurePostgres = async (url: string, ids: BigInt64Array) => {
  const client = await connectSql(url);
  const bytes = async (expression: string): Promise<number> => {
    const { rows } = await client.query<{ readonly bytes: string }>(
      `SELECT ${expression} AS bytes`,
    );
    return Number(rows[0]?.bytes);
  };
  const walPosition = "pg_current_wal_insert_lsn() - '0/0'";
  const before = await bytes(walPosition);
  const repository = valueOf(await openPostgresRepository({ url }));
  await fill(repository, ids);
  await repository.close();
  const perPlant = {
    postgres: (await bytes("pg_total_relation_size('plants')")) / plants,
    postgresWal: ((await bytes(walPosition)) - before) / plants,
  };
  await client.end();
  return perPlant;
};

const measureStorage = async ({ newFile, newDatabase }: Stores): Promise<readonly Storage[]> => {
  const storage: Storage[] = [];
  for (const [name, ids] of [
    ['random', randomFillSync(new BigInt64Array(plants))],
    ['sequential', BigInt64Array.from({ length: plants }, (_, at) => BigInt(at))],
  ] as const)
    storage.push({
      ids: name,
      ...(await measureSqlite(newFile(), ids)),
      ...(await measurePostgres(await newDatabase(), ids)),
    });
  return storage;
};

/** Measures the program with 1, 64 and 256 clients on each store, and the bytes per plant of each store. */
export const measureScaling = async (load: Load, rounds: number): Promise<Parts['scaling']> =>
  withStores(async (stores) => {
    const [first, ...others] = contendersOf(stores, load);
    if (first === undefined) throw new Error('no contender');
    const rows = await runRounds(first, others, { rounds });
    return {
      rounds,
      baseline: `${first.section}, ${first.name}`,
      rows,
      storage: await measureStorage(stores),
    };
  });
