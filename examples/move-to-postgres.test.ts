import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openPostgresRepository } from '@plantstore/postgres';
import { openSqliteRepository } from '@plantstore/sqlite';
import { startPostgres } from '@plantstore/test-support/postgres-server';
import { expect, it, onTestFinished } from 'vitest';

const run = promisify(execFile);
const example = fileURLToPath(new URL('move-to-postgres.ts', import.meta.url));

const plants = Array.from({ length: 2_500 }, (_, index) => ({
  id: 2n ** 63n - 1n - BigInt(index),
  name: `e\u0301 "${index}"\n🪴`,
  ...(index % 3 > 0 && { tag: index % 3 === 1 ? '' : 'NULL' }),
}));

it('move-to-postgres.ts moves every plant as it is, and only once its file has no owner', async () => {
  const server = await startPostgres();
  onTestFinished(server.dispose);
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const path = join(folder, 'plants.db');
  const env = { PLANTS_FILE: path, PLANTS_DATABASE: server.url() };
  const move = async () =>
    run(process.execPath, ['--conditions=@plantstore/source', example], { env });

  const source = (await openSqliteRepository({ path }))._unsafeUnwrap();
  await Promise.all(plants.map(async (plant) => source.create(plant)));
  await expect(move()).rejects.toThrow('database is locked');
  await source.close();

  for (const _ of ['first', 'again']) {
    expect((await move()).stdout).toBe('2500 plants are in the database\n');
  }
  const moved = (await openPostgresRepository({ url: server.url() }))._unsafeUnwrap();
  onTestFinished(moved.close);
  const repeated = await Promise.all(plants.map(async (plant) => moved.create(plant)));
  expect(repeated.filter((one) => one.isErr())).toEqual([]);
  const others = await Promise.all(
    plants.map(async ({ id, name }) => moved.create({ id, name, tag: 'another' })),
  );
  expect(others.filter((one) => one.isOk())).toEqual([]);
}, 60_000);
