import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewPlant } from '@plantstore/core';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeStore } from '../../test/store-file.ts';
import { backUpPlants, restorePlants } from '../read/back-up-plants.ts';
import { checkPlants } from '../read/check-plants.ts';
import { columnNames, plantOf, type Row } from './columns.ts';
import { findColumns, findMissing } from './table.ts';
import { Database } from './connection.ts';
import { openSqliteRepository } from '../repository.ts';
import { readable } from '../read/plant-reader.ts';
import { readPlants } from '../read/read-plants.ts';

let path = '';
beforeEach(async () => {
  const folder = await makeFolder();
  path = join(folder, 'plants.db');
  makeStore(path);
});

const firstTable =
  'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT';

const alter = (sql: string) => {
  // As sqlite3, which permits text in double quotes.
  const database = new Database(path, { enableDoubleQuotedStringLiterals: true });
  database.exec(sql);
  database.close();
};

const readAll = async (from: string) => {
  const plants: unknown[] = [];
  for await (const read of readPlants({ path: from })) plants.push(read._unsafeUnwrap());
  return plants;
};

describe('a file whose plants table was altered', () => {
  it('a file of the first version is opened and read, and a column of another program is reported', async () => {
    alter(`DROP TABLE plants; ${firstTable};
      INSERT INTO plants (id, name) VALUES (7, 'Monstera'); ALTER TABLE plants ADD COLUMN colour TEXT`);
    const monstera = { id: 7n, name: 'Monstera' };
    expect(await readAll(path)).toEqual([monstera]);
    const plants = columnNames
      .slice(1)
      .map((name, id) => ({ id: BigInt(id), name: 'a', [name]: 'b' }));
    const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
    for (const plant of [monstera, ...plants])
      expect((await repository.create(plant)).isOk()).toBe(true);
    await repository.close();
    const reported: (readonly string[])[] = [];
    const onUnknownColumns = (names: readonly string[]) => reported.push(names);
    const read: unknown[] = [];
    for await (const one of readPlants({ path, onUnknownColumns })) read.push(one._unsafeUnwrap());
    expect(read).toEqual([...plants, monstera]);
    expect(reported).toEqual([['colour']]);
  });

  it('a column that the table does not have is missing unless another has its name in any case, and reads as NULL', () => {
    alter(
      'DROP TABLE plants; CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT',
    );
    const database = new Database(path);
    database.exec("INSERT INTO plants VALUES (7, 'Monstera')");
    expect(findMissing(database, ['name', 'tag'])).toEqual(['tag']);
    database.exec('ALTER TABLE plants ADD COLUMN TAG INTEGER');
    expect(findMissing(database, ['tag'])).toEqual([]);
    const rows = database.prepare(`SELECT ${readable(findColumns(database).members)} FROM plants`);
    rows.setReturnArrays(true);
    rows.setReadBigInts(true);
    expect(plantOf(rows.get() as unknown as Row)).toStrictEqual({ id: 7n, name: 'Monstera' });
    database.close();
  });

  it.each([
    ['trigger', 'CREATE TRIGGER silent BEFORE INSERT ON Plants BEGIN SELECT RAISE(IGNORE); END'],
    ['unique index', 'CREATE UNIQUE INDEX silent ON Plants (name)'],
    ['unique partial index', 'CREATE UNIQUE INDEX silent ON plants (name) WHERE tag IS NULL'],
  ])('a file is refused and left unchanged when its plants table has a %s', async (_, sql) => {
    // Of the first version: the columns of later ones must not be added.
    alter(`DROP TABLE plants; ${firstTable}; ${sql}`);
    const before = await readFile(path);
    const error = (await openSqliteRepository({ path }))._unsafeUnwrapErr();
    expect(error).toMatchObject({
      kind: 'table-altered',
      message: `another program altered or removed the table plants of ${path}; drop its trigger or unique index "silent"`,
    });
    expect(await readFile(path)).toEqual(before);
  });

  it.each([
    [
      'was recreated',
      'DROP TABLE plants; CREATE TABLE plants ("id" INTEGER, "name" TEXT, "tag" TEXT, PRIMARY KEY ("id")) STRICT',
    ],
    [
      'compares names without case',
      'DROP TABLE plants; CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE, tag TEXT) STRICT',
    ],
    ['is not STRICT', 'DROP TABLE plants; CREATE TABLE plants (id, name, tag)'],
    [
      'has a key of two columns',
      'DROP TABLE plants; CREATE TABLE plants (id INTEGER, name TEXT NOT NULL, tag TEXT, v INTEGER DEFAULT 1, PRIMARY KEY (id, v)) STRICT',
    ],
    [
      'has no row ids',
      `DROP TABLE plants; ${firstTable.replace('STRICT', 'WITHOUT ROWID, STRICT')}`,
    ],
    [
      'has a unique column',
      `DROP TABLE plants; ${firstTable.replace(') ', ', slug TEXT UNIQUE) ')}`,
    ],
  ])(
    'a file whose plants table %s is refused as altered by a start, a check and a restore, and can be read and backed up',
    async (_, sql) => {
      alter(`${sql}; INSERT INTO plants (id, name, tag) VALUES (7, 'Monstera', NULL)`);
      const altered = {
        kind: 'table-altered',
        message: `another program altered or removed the table plants of ${path}; export the plants, and import them into a new file`,
      };
      expect((await openSqliteRepository({ path }))._unsafeUnwrapErr()).toMatchObject(altered);
      expect(checkPlants(path)._unsafeUnwrapErr()).toMatchObject(altered);
      const [backup, to] = [`${path}.backup`, `${path}.restored`];
      expect((await restorePlants({ from: path, to }))._unsafeUnwrapErr()).toMatchObject(altered);
      expect((await backUpPlants({ from: path, to: backup }))._unsafeUnwrap().plants).toBe(1);
      expect(await readAll(backup)).toEqual([{ id: 7n, name: 'Monstera' }]);
    },
  );

  it.each([
    'ALTER TABLE plants RENAME COLUMN tag TO label',
    'ALTER TABLE plants DROP COLUMN tag',
    'DROP TABLE plants',
    'DROP TABLE plants; CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT) STRICT',
    'DROP TABLE plants; CREATE TABLE notes (text); PRAGMA user_version = 0',
  ])('a file is neither opened nor read, as altered and not as damaged, after %s', async (sql) => {
    alter(sql);
    const kind = 'table-altered';
    const message = `another program altered or removed the table plants of ${path}; copy the plants with sqlite3, or restore a backup`;
    expect(() => makeStore(path)).toThrow(kind);
    expect(checkPlants(path)._unsafeUnwrapErr()).toMatchObject({ kind, message });
    const to = `${path}.backup`;
    expect((await backUpPlants({ from: path, to }))._unsafeUnwrapErr().kind).toBe(kind);
  });

  it('a file is used, read and backed up after alterations that do not change what is stored, also while it is open', async () => {
    const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
    const alterations = [
      'ALTER TABLE plants ADD COLUMN colour TEXT',
      "ALTER TABLE plants ADD COLUMN size TEXT NOT NULL DEFAULT 'small'",
      'CREATE TABLE notes (text CHECK (text <> ""))',
      'ALTER TABLE plants ADD COLUMN length INTEGER AS (length(name))',
      'CREATE INDEX by_tag ON plants (tag)',
      'CREATE INDEX climbers ON plants (upper(name)) WHERE tag IS NOT NULL',
      'CREATE VIEW names AS SELECT name FROM plants',
      'CREATE TRIGGER noted BEFORE INSERT ON notes BEGIN SELECT RAISE(IGNORE); END',
      'ALTER TABLE plants RENAME TO other; ALTER TABLE other RENAME TO plants',
    ];
    const plants: NewPlant[] = [];
    for (const [index, sql] of alterations.entries()) {
      alter(sql);
      const plant = { id: BigInt(index), name: 'Ficus', ...(index % 2 === 0 && { tag: '' }) };
      expect([sql, (await repository.create(plant)).isOk()]).toEqual([sql, true]);
      plants.push(plant);
    }
    await repository.close();
    const again = (await openSqliteRepository({ path }))._unsafeUnwrap();
    expect((await again.create({ id: 1n, name: 'Ficus' })).isOk()).toBe(true);
    expect((await again.create({ id: 1n, name: 'ficus' })).isErr()).toBe(true);
    await again.close();
    const stored = { plants: plants.length };
    expect(checkPlants(path)._unsafeUnwrap()).toMatchObject({ ...stored, damage: [] });
    const to = `${path}.backup`;
    expect((await backUpPlants({ from: path, to }))._unsafeUnwrap()).toMatchObject(stored);
    expect(await readAll(to)).toEqual(plants);
  });

  it('a plant that a column of another program ignores is refused, and its id is not reported as taken', async () => {
    alter(
      'ALTER TABLE plants ADD COLUMN short TEXT NOT NULL ON CONFLICT IGNORE AS (iif(length(name) < 20, name, NULL))',
    );
    const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
    const long = { id: 7n, name: 'Monstera deliciosa variegata' };
    expect((await repository.create(long))._unsafeUnwrapErr().kind).toBe('plant-refused');
    expect((await repository.create({ id: 7n, name: 'Monstera' })).isOk()).toBe(true);
    expect((await repository.create(long))._unsafeUnwrapErr().kind).toBe('id-taken');
    await repository.close();
  });
});
