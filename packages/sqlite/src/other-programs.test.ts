import { copyFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseRefusal } from '@plantstore/core/errors';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { connectOther, runInOtherProgram } from '../test/other-program.ts';
import { skipReopenPause } from '../test/skip-reopen-pause.ts';
import { makeStore } from '../test/store-file.ts';
import { type HeldWal, walLimit } from './commit/checkpoints.ts';
import { lockTimeoutMs } from './open/owner-lock.ts';
import { openSqliteRepository, type SqliteRepository } from './repository.ts';

const { DatabaseSync } = process.getBuiltinModule('node:sqlite');

let path = '';
beforeEach(async () => {
  path = join(await makeFolder(), 'plants.db');
  makeStore(path);
});

const open = async (onHeldWal?: (wal: HeldWal) => void) => {
  const options = { path, ...(onHeldWal && { onHeldWal }) };
  const repository = (await openSqliteRepository(options))._unsafeUnwrap();
  onTestFinished(async () => void (await repository.close()));
  return repository;
};

const plant = (id: number) => ({ id: BigInt(id), name: 'Monstera' });

/** Creates plants that each take a little more of the WAL file than starts a checkpoint. */
const createLarge = async (repository: SqliteRepository, from: number, to: number) => {
  for (let id = from; id < to; id += 1) {
    const created = await repository.create({ id: BigInt(id), name: 'x'.repeat(walLimit) });
    expect(created.isOk()).toBe(true);
  }
};
const walSize = async () => (await stat(`${path}-wal`)).size;

/** Returns why a plant cannot be created. */
const refusalOf = async (repository: SqliteRepository, id: number): Promise<string> => {
  const error = (await repository.create(plant(id)))._unsafeUnwrapErr();
  return error.kind === 'store-unavailable' ? error.reason : error.kind;
};

const count = 'SELECT count(*) AS plants FROM plants';

describe('other programs', () => {
  it('another program reads every acknowledged plant, of a recovered WAL file, too, copies them, and keeps the WAL file', async () => {
    const killed = await open();
    await killed.create(plant(1));
    // The same files as after a `kill -9`.
    for (const suffix of ['', '-wal'])
      await copyFile(`${path}${suffix}`, `${path}.killed${suffix}`);
    path += '.killed';
    const repository = await open();
    for (let plants = 1; plants <= 3; plants += 1) {
      expect((await repository.create(plant(plants))).isOk()).toBe(true);
      expect(runInOtherProgram(path, count)).toEqual([{ plants }]);
      expect(await walSize()).toBeGreaterThan(0);
    }
    expect(runInOtherProgram(path, `VACUUM INTO '${path}.copy'`)).toEqual([]);
    expect(connectOther(`${path}.copy`).run(count)).toEqual([{ plants: 3 }]);
    expect(runInOtherProgram(path, 'PRAGMA journal_mode = DELETE')).toBe('database is locked');
  });

  it('another program makes creates unavailable only while it holds the write lock', async () => {
    const repository = await open();
    await repository.create(plant(1));
    const other = connectOther(path);
    other.run('BEGIN IMMEDIATE');
    expect(await refusalOf(repository, 2)).toBe('the database cannot be written: locked');
    other.run('ROLLBACK');
    expect((await repository.create(plant(2))).isOk()).toBe(true);
  });

  it('a repository does not open a file while another program writes to its WAL file, and opens it afterwards', async () => {
    const repository = await open();
    const other = connectOther(path);
    other.run('BEGIN');
    other.run(count);
    await repository.create(plant(1));
    await repository.close();
    other.run('COMMIT');
    other.run('BEGIN IMMEDIATE');
    expect((await openSqliteRepository({ path }))._unsafeUnwrapErr().kind).toBe('locked');
    other.run("INSERT INTO plants (id, name, tag) VALUES (2, 'Fern', NULL)");
    other.run('COMMIT');
    await open();
    expect(other.run(count)).toEqual([{ plants: 2 }]);
  });

  it('another program delays a create by a short transaction', async () => {
    const repository = await open();
    const other = connectOther(path);
    let isCreated = false;
    // On a busy machine, the transaction may last longer than a create waits.
    for (let id = 1; id < 5 && !isCreated; id += 1) {
      other.run('BEGIN IMMEDIATE');
      const creating = repository.create(plant(id));
      // Longer than an open waits.
      await sleep(lockTimeoutMs + 200);
      other.run('ROLLBACK');
      isCreated = (await creating).isOk();
    }
    expect(isCreated).toBe(true);
  });

  it('another program cannot make a repository acknowledge a plant that its trigger ignores, after changes that it accepts', async () => {
    const repository = await open();
    const other = connectOther(path);
    const changes = [
      'VACUUM',
      'CREATE TABLE _litestream_seq (id INTEGER)',
      'CREATE VIEW tags AS SELECT 1',
      'CREATE INDEX by_tag ON plants (tag)',
      'PRAGMA wal_checkpoint(TRUNCATE)',
    ];
    for (const [index, sql] of changes.entries()) {
      other.run(sql);
      const created = await repository.create(plant(index));
      expect([sql, created.isOk()]).toEqual([sql, true]);
    }
    other.run('CREATE TRIGGER ignore BEFORE INSERT ON plants BEGIN SELECT RAISE(IGNORE); END');
    expect(await refusalOf(repository, 9)).toContain('altered');
    expect(await refusalOf(repository, 9)).toContain('"ignore"');
    other.run('DROP TRIGGER ignore');
    skipReopenPause();
    expect((await repository.create(plant(9))).isOk()).toBe(true);
    expect(other.run(count)).toEqual([{ plants: changes.length + 1 }]);
  });

  it.each([
    ['an index', 'CREATE INDEX by_name ON plants (json(name))', 'malformed JSON'],
    [
      'a column with a CHECK',
      "ALTER TABLE plants ADD COLUMN colour TEXT CHECK (name <> 'Monstera')",
      'CHECK constraint failed',
    ],
  ])(
    'another program can add %s, and only a plant that it does not accept is refused',
    async (_, sql, reason) => {
      const repository = await open();
      expect(connectOther(path).run(sql)).toEqual([]);
      const names = ['[]', 'Monstera', '{}'];
      const batch = await Promise.all(
        names.map(async (name, id) => repository.create({ id: BigInt(id), name })),
      );
      expect(batch.map((created) => created.isErr())).toEqual([false, true, false]);
      expect(batch[1]?._unsafeUnwrapErr()).toMatchObject({
        kind: 'plant-refused',
        ...databaseRefusal,
        cause: { message: expect.stringContaining(reason) as unknown },
      });
    },
  );

  it('an index with a function that the repository does not have makes creates unavailable, and refuses no plant', async () => {
    const repository = await open();
    const other = new DatabaseSync(path);
    other.function('shout', { deterministic: true }, String);
    other.exec('CREATE INDEX shouted ON plants (shout(name))');
    expect(await refusalOf(repository, 1)).toContain('unknown function: shout()');
    other.exec('DROP INDEX shouted');
    other.close();
    skipReopenPause();
    expect((await repository.create(plant(1))).isOk()).toBe(true);
  });

  it.each(['-wal', '-shm', '-owner'])(
    'another program cannot remove or replace %s without an error from the next create',
    async (suffix) => {
      const repository = await open();
      await repository.create(plant(1));
      // Nothing waits for others that have the database open without the lock file.
      if (suffix === '-owner') connectOther(path).run(count);
      const replace = async () => {
        await writeFile(`${path}.other`, '');
        await rename(`${path}.other`, `${path}${suffix}`);
      };
      for (const change of [async () => rm(`${path}${suffix}`), replace]) {
        await change();
        expect(await refusalOf(repository, 2)).toContain(
          `plants.db${suffix} was removed or replaced while it was in use`,
        );
        expect((await repository.create(plant(2))).isOk()).toBe(true);
      }
      expect(connectOther(path).run(count)).toEqual([{ plants: 2 }]);
    },
  );
});

describe('WAL file', () => {
  it('the WAL file stays small, grows during a long read transaction, which is reported, and shrinks afterwards', async () => {
    const reports: HeldWal[] = [];
    const repository = await open((wal) => void reports.push(wal));
    const large = 64 * 2 ** 20;
    const needed = large / walLimit;
    await createLarge(repository, 0, 4);
    // One large plant is not a transaction of another program.
    await repository.create({ id: 4n, name: 'x'.repeat(large) });
    await createLarge(repository, 5, 7);
    expect(await walSize()).toBeLessThan(2 * walLimit);
    expect(reports).toEqual([]);
    const other = connectOther(path);
    other.run('BEGIN');
    expect(other.run(count)).toEqual([{ plants: 7 }]);
    await createLarge(repository, 7, 8 + needed);
    expect(reports).toEqual([{ wal: `${path}-wal`, size: expect.any(Number) as unknown }]);
    expect(reports[0]?.size).toBeGreaterThanOrEqual(large);
    other.run('COMMIT');
    await createLarge(repository, 8 + needed, 10 + needed);
    expect(await walSize()).toBeLessThan(2 * walLimit);
    expect(other.run(count)).toEqual([{ plants: 10 + needed }]);
  });

  it('the WAL file remains after a close during a read transaction, and is reported', async () => {
    const repository = await open();
    await repository.create(plant(1));
    const other = connectOther(path);
    other.run('BEGIN');
    other.run(count);
    await repository.create(plant(2));
    expect(await repository.close()).toEqual({ walLeft: `${path}-wal` });
    // The reader does not prevent the next open.
    const again = (await openSqliteRepository({ path }))._unsafeUnwrap();
    expect((await again.create(plant(3))).isOk()).toBe(true);
    expect(await again.close()).toEqual({ walLeft: `${path}-wal` });
    other.close();
    expect((await readdir(join(path, '..'))).toSorted()).toEqual(['plants.db', 'plants.db-owner']);
  });
});
