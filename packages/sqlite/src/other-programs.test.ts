import { copyFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseRefusal } from '@plantstore/core/errors';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { runsAll } from '@plantstore/test-support/sample';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { otherProgram } from '../test/other-program.ts';
import { makeStore } from '../test/store-file.ts';
import { walLimit } from './commit/checkpoints.ts';
import { busyTimeoutMs } from './open/owned-database.ts';
import { type HeldWal, openSqliteRepository, type SqliteRepository } from './repository.ts';
import { lockTimeoutMs } from './open/owner-lock.ts';

const { DatabaseSync } = process.getBuiltinModule('node:sqlite');

const connectOther = otherProgram();

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
const ignore = 'CREATE TRIGGER ignore BEFORE INSERT ON plants BEGIN SELECT RAISE(IGNORE); END';

describe('other programs', () => {
  it('another program reads every acknowledged plant while a repository is open, and keeps the WAL file when it closes the database', async () => {
    const repository = await open();
    for (let id = 1; id <= 3; id += 1) {
      await repository.create(plant(id));
      const other = connectOther(path);
      expect(await other.run(count)).toEqual([{ plants: id }]);
      await other.close();
      expect(await walSize()).toBeGreaterThan(0);
    }
  });

  it('another program reads every acknowledged plant of a repository that recovered a WAL file', async () => {
    const killed = await open();
    await killed.create(plant(1));
    // The same files as after a `kill -9`.
    for (const suffix of ['', '-wal'])
      await copyFile(`${path}${suffix}`, `${path}.killed${suffix}`);
    path += '.killed';
    const repository = await open();
    const other = connectOther(path);
    expect(await other.run(count)).toEqual([{ plants: 1 }]);
    expect((await repository.create(plant(2))).isOk()).toBe(true);
    expect(await other.run(count)).toEqual([{ plants: 2 }]);
  });

  it('another program can copy the database with VACUUM INTO while a repository is open', async () => {
    const repository = await open();
    await repository.create(plant(1));
    const other = connectOther(path);
    expect(await other.run(`VACUUM INTO '${path}.copy'`)).toEqual([]);
    const copy = connectOther(`${path}.copy`);
    expect(await copy.run(count)).toEqual([{ plants: 1 }]);
  });

  it('another program makes creates unavailable only while it holds the write lock', async () => {
    const repository = await open();
    await repository.create(plant(1));
    const other = connectOther(path);
    await other.run('BEGIN IMMEDIATE');
    expect(await refusalOf(repository, 2)).toBe('the database cannot be written: locked');
    await other.run('ROLLBACK');
    expect((await repository.create(plant(2))).isOk()).toBe(true);
  });

  it('a repository does not open a file while another program writes to its WAL file, and opens it afterwards', async () => {
    const repository = await open();
    const other = connectOther(path);
    await other.run('BEGIN');
    await other.run(count);
    await repository.create(plant(1));
    await repository.close();
    await other.run('COMMIT');
    await other.run('BEGIN IMMEDIATE');
    expect((await openSqliteRepository({ path }))._unsafeUnwrapErr().kind).toBe('locked');
    await other.run("INSERT INTO plants (id, name, tag) VALUES (2, 'Fern', NULL)");
    await other.run('COMMIT');
    await open();
    expect(await other.run(count)).toEqual([{ plants: 2 }]);
  });

  it('another program delays a create by a short transaction', async () => {
    const repository = await open();
    const other = connectOther(path);
    for (let id = 1; ; id += 1) {
      await other.run('BEGIN IMMEDIATE');
      const began = performance.now();
      const creating = repository.create(plant(id));
      // Longer than an open waits.
      await sleep(lockTimeoutMs + 200);
      await other.run('ROLLBACK');
      const isInTime = performance.now() - began < busyTimeoutMs - 500;
      const created = await creating;
      // On a busy machine, the transaction may last longer than a create waits.
      if (created.isOk() || isInTime) {
        expect(created.isOk()).toBe(true);
        return;
      }
    }
  });

  it('another program can run a checkpoint while a repository is open, and no plant is lost', async () => {
    const repository = await open();
    await repository.create(plant(1));
    const other = connectOther(path);
    await other.run('PRAGMA wal_checkpoint(TRUNCATE)');
    expect(await walSize()).toBe(0);
    await repository.create(plant(2));
    expect(await other.run(count)).toEqual([{ plants: 2 }]);
  });

  it('another program cannot change the journal mode while a repository is open', async () => {
    const repository = await open();
    await repository.create(plant(1));
    const other = connectOther(path);
    expect(await other.run('PRAGMA journal_mode = DELETE')).toBe('database is locked');
  });

  it('another program cannot make a repository acknowledge a plant that its trigger ignores', async () => {
    const repository = await open();
    await repository.create(plant(1));
    const other = connectOther(path);
    expect(await other.run(ignore)).toEqual([]);
    expect(await refusalOf(repository, 2)).toContain('altered');
    expect(await refusalOf(repository, 2)).toContain('"ignore"');
    await other.run('DROP TRIGGER ignore');
    // The store opens the file again after a pause.
    await expect.poll(async () => (await repository.create(plant(2))).isOk()).toBe(true);
    expect(await other.run(count)).toEqual([{ plants: 2 }]);
  });

  it('another program can change the schema without an effect on plants, and a trigger is noticed afterwards', async () => {
    const repository = await open();
    const other = connectOther(path);
    const changes = [
      'VACUUM',
      'CREATE TABLE _litestream_seq (id INTEGER)',
      'CREATE VIEW tags AS SELECT 1',
      'CREATE INDEX by_tag ON plants (tag)',
    ];
    for (const [index, sql] of changes.entries()) {
      expect(await other.run(sql)).toEqual([]);
      const created = await repository.create(plant(index));
      expect([sql, created.isOk()]).toEqual([sql, true]);
    }
    expect(await other.run(ignore)).toEqual([]);
    expect(await refusalOf(repository, changes.length)).toContain('altered');
    expect(await other.run(count)).toEqual([{ plants: changes.length }]);
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
      const other = connectOther(path);
      expect(await other.run(sql)).toEqual([]);
      const batch = await Promise.all(
        ['[]', 'Monstera', '{}'].map(async (name, id) =>
          repository.create({ id: BigInt(id), name }),
        ),
      );
      expect(batch.map((created) => created.isErr())).toEqual([false, true, false]);
      expect(batch[1]?._unsafeUnwrapErr()).toMatchObject({
        kind: 'plant-refused',
        ...databaseRefusal,
        cause: { message: expect.stringContaining(reason) as unknown },
      });
      expect(await other.run(count)).toEqual([{ plants: 2 }]);
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
    await expect.poll(async () => (await repository.create(plant(1))).isOk()).toBe(true);
  });

  it.each(['-wal', '-shm', '-owner'])(
    'another program cannot remove or replace %s without an error from the next create',
    async (suffix) => {
      const repository = await open();
      await repository.create(plant(1));
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
      expect(await connectOther(path).run(count)).toEqual([{ plants: 2 }]);
    },
  );
});

describe('WAL file', () => {
  it('the WAL file stays small while no other program reads', async () => {
    const repository = await open();
    await createLarge(repository, 0, 4);
    expect(await walSize()).toBeLessThan(2 * walLimit);
  });

  it('the WAL file grows during a long read transaction, which is reported, and shrinks afterwards', async () => {
    const reports: HeldWal[] = [];
    const repository = await open((wal) => void reports.push(wal));
    await repository.create(plant(0));
    const other = connectOther(path);
    await other.run('BEGIN');
    await other.run(count);
    const large = 64 * 2 ** 20;
    const needed = large / walLimit;
    await createLarge(repository, 1, 1 + needed);
    expect(await walSize()).toBeGreaterThan(large);
    expect(reports).toEqual([{ wal: `${path}-wal`, size: expect.any(Number) as unknown }]);
    expect(reports[0]?.size).toBeGreaterThanOrEqual(large);
    expect(await other.run(count)).toEqual([{ plants: 1 }]);
    await other.run('COMMIT');
    await createLarge(repository, 1 + needed, 3 + needed);
    expect(await walSize()).toBeLessThan(2 * walLimit);
    expect(await other.run(count)).toEqual([{ plants: 3 + needed }]);
    await other.run('BEGIN');
    await other.run(count);
    await createLarge(repository, 3 + needed, 4 + 2 * needed);
    expect(reports.length).toBe(2);
  });

  it('the WAL file is not reported as held by a reader when it grows by one large plant', async () => {
    const reports: HeldWal[] = [];
    const repository = await open((wal) => void reports.push(wal));
    for (const id of runsAll ? [1n, 2n, 3n] : [1n]) {
      const large = { id, name: 'x'.repeat(65 * 2 ** 20) };
      expect((await repository.create(large)).isOk()).toBe(true);
    }
    expect(reports).toEqual([]);
  });

  it('the WAL file remains after a close during a read transaction, and is reported', async () => {
    const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
    await repository.create(plant(1));
    const other = connectOther(path);
    await other.run('BEGIN');
    await other.run(count);
    await repository.create(plant(2));
    expect(await repository.close()).toEqual({ walLeft: `${path}-wal` });
    // The reader does not prevent the next open.
    const again = (await openSqliteRepository({ path }))._unsafeUnwrap();
    expect((await again.create(plant(3))).isOk()).toBe(true);
    expect(await again.close()).toEqual({ walLeft: `${path}-wal` });
    await other.close();
    expect((await readdir(join(path, '..'))).toSorted()).toEqual(['plants.db', 'plants.db-owner']);
  });
});
