import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, cp, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NewPlant } from '@plantstore/core';
import { beforeEach, describe, expect, it } from 'vitest';
import { backUpPlants } from './back-up-plants.ts';
import { openSqliteRepository } from './open-sqlite-repository.ts';
import { readPlants } from './read-plants.ts';
import { restorePlants } from './restore-plants.ts';

let folder = '';
let path = '';
let backup = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  path = join(folder, 'plants.db');
  backup = join(folder, 'backup.db');
  return async () => rm(folder, { recursive: true });
});

const plantsOf = (name: string, length: number): NewPlant[] =>
  Array.from({ length }, (_, id) => ({ id: BigInt(id), name: `${name} ${id}` }));
const [older, newer, newest] = [plantsOf('a', 300), plantsOf('b', 500), plantsOf('b', 700)];

const createAll = async (file: string, plants: readonly NewPlant[]) => {
  const repository = (await openSqliteRepository({ path: file }))._unsafeUnwrap();
  await Promise.all(plants.map(async (plant) => repository.create(plant)));
  return repository;
};

const makeBackup = async () => {
  const repository = await createAll(join(folder, 'older.db'), older);
  (await backUpPlants({ from: join(folder, 'older.db'), to: backup }))._unsafeUnwrap();
  await repository.close();
};

/** Creates a database whose latest plants are in its WAL file, as after `kill -9`. */
const makeStoreWithLog = async () => {
  const file = join(folder, 'live.db');
  await (await createAll(file, newer)).close();
  const repository = await createAll(file, newest);
  for (const end of ['', '-wal']) await copyFile(`${file}${end}`, `${path}${end}`);
  await repository.close();
};

/** Returns the plants of a file, or the kind of the error. */
const contentOf = async (file: string): Promise<readonly NewPlant[] | string> => {
  const plants: NewPlant[] = [];
  for await (const read of readPlants({ path: file })) {
    if (read.isErr()) return read.error.kind;
    plants.push(read.value);
  }
  return plants;
};

const namesIn = async () => (await readdir(folder)).filter((name) => name.startsWith('plants.db'));

const program = fileURLToPath(new URL('../test/restore-until-killed.ts', import.meta.url));

/** Restores in a process that kills itself before the nth change of the folder. Returns `false` if it had fewer changes. */
const restoreAndKill = async (change: number): Promise<boolean> => {
  const args = ['--conditions=@plantstore/source', program, backup, path, String(change)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [status, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect([status, signal]).toEqual(signal === null ? [0, null] : [null, 'SIGKILL']);
  return signal !== null;
};

describe('restorePlants', () => {
  it('replaces a file with a copy of the backup, and keeps the file with its WAL file', async () => {
    await makeBackup();
    await makeStoreWithLog();
    const restored = (await restorePlants({ from: backup, to: path }))._unsafeUnwrap();
    expect(restored.plants).toBe(older.length);
    expect((await namesIn()).filter((name) => name === 'plants.db-wal')).toEqual([]);
    expect(await contentOf(path)).toEqual(older);
    expect(await contentOf(restored.kept ?? '')).toEqual(newest);
    expect(await contentOf(backup)).toEqual(older);
    const undone = await restorePlants({ from: restored.kept ?? '', to: path });
    expect(undone._unsafeUnwrap().plants).toBe(newest.length);
    expect(await contentOf(path)).toEqual(newest);
  });

  it('restores a missing file, and a file that cannot be read', async () => {
    await makeBackup();
    expect((await restorePlants({ from: backup, to: path }))._unsafeUnwrap().kept).toBe(undefined);
    expect(await contentOf(path)).toEqual(older);
    await writeFile(path, 'damaged'.repeat(1_000));
    await writeFile(`${path}-wal`, 'damaged');
    const { kept } = (await restorePlants({ from: backup, to: path }))._unsafeUnwrap();
    expect(await contentOf(path)).toEqual(older);
    expect((await stat(`${kept}-wal`)).size).toBe(7);
  });

  it('rejects a restore that is not possible, and changes nothing', async () => {
    await makeBackup();
    const repository = await createAll(path, newer);
    expect(await restorePlants({ from: backup, to: path })).toMatchObject({
      error: { kind: 'locked', path },
    });
    await repository.close();
    const text = join(folder, 'text');
    await writeFile(text, 'no database'.repeat(1_000));
    for (const [from, to, kind] of [
      [path, path, 'same-file'],
      [text, path, 'not-a-database'],
      [join(folder, 'none.db'), path, 'missing'],
      [backup, folder, 'cannot-open'],
      [backup, join(folder, 'none', 'plants.db'), 'cannot-open'],
    ] as const) {
      expect(await restorePlants({ from, to })).toMatchObject({ error: { kind } });
    }
    expect(await contentOf(path)).toEqual(newer);
    expect((await namesIn()).filter((name) => /restoring|replaced/.test(name))).toEqual([]);
  });

  it('leaves the old plants, the new ones or no database after kill -9 at any change, and the next restore completes', async () => {
    await makeBackup();
    await makeStoreWithLog();
    const before = join(folder, 'before');
    await cp(path, before);
    await cp(`${path}-wal`, `${before}-wal`);
    const seen = new Set<string>();
    for (let change = 1; await restoreAndKill(change); change += 1) {
      const content = await contentOf(path);
      expect([newest, 'not-a-database', 'log-of-another-file']).toContainEqual(content);
      seen.add(typeof content === 'string' ? 'none' : 'old');
      // A server may be started before the next restore.
      const opened = await openSqliteRepository({ path });
      if (opened.isOk()) await opened.value.close();
      expect(await contentOf(path)).toEqual(content);

      (await restorePlants({ from: backup, to: path }))._unsafeUnwrap();
      const others = (await namesIn()).filter((name) => !name.includes('.replaced-'));
      expect(others.toSorted()).toEqual(['plants.db', 'plants.db-owner']);
      expect(await contentOf(path)).toEqual(older);
      const kept = (await namesIn()).filter((name) => /replaced-.*Z$/.test(name));
      const contents = await Promise.all(kept.map(async (name) => contentOf(join(folder, name))));
      expect(contents).toContainEqual(newest);
      expect(contents.filter((one) => typeof one === 'string')).toEqual([]);

      for (const name of await namesIn()) await rm(join(folder, name));
      await cp(before, path);
      await cp(`${before}-wal`, `${path}-wal`);
    }
    expect([...seen].toSorted()).toEqual(['none', 'old']);
    expect(await contentOf(path)).toEqual(older);
    // A process for each change of the folder.
  }, 120_000);
});
