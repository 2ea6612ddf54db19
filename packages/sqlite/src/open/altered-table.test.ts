import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewPlant } from '@plantstore/core';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { beforeEach, expect, it } from 'vitest';
import { makeStore } from '../../test/store-file.ts';
import { backUpPlants, restorePlants } from '../read/back-up-plants.ts';
import { checkPlants } from '../read/check-plants.ts';
import { readPlants } from '../read/read-plants.ts';
import { openSqliteRepository } from '../repository.ts';
import { Database } from './connection.ts';

let path = '';
beforeEach(async () => {
  path = join(await makeFolder(), 'plants.db');
  makeStore(path);
});

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

it('a column of another program is reported, and not read', async () => {
  alter("INSERT INTO plants (id, name) VALUES (7, 'Monstera')");
  alter('ALTER TABLE plants ADD COLUMN colour TEXT');
  const reported: (readonly string[])[] = [];
  const onUnknownColumns = (names: readonly string[]) => reported.push(names);
  const read: unknown[] = [];
  for await (const one of readPlants({ path, onUnknownColumns })) read.push(one._unsafeUnwrap());
  expect(read).toEqual([{ id: 7n, name: 'Monstera' }]);
  expect(reported).toEqual([['colour']]);
});

const table = (rest: string) => `DROP TABLE plants; CREATE TABLE plants ${rest}`;
const columns = 'id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT';
const silent = 'drop its trigger or unique index "silent", or ';

it.each<[string, string, string]>([
  [
    'has a trigger',
    'CREATE TRIGGER silent BEFORE INSERT ON Plants BEGIN SELECT RAISE(IGNORE); END',
    silent,
  ],
  ['has a unique index', 'CREATE UNIQUE INDEX silent ON plants (name) WHERE tag = 1', silent],
  [
    'compares names without case',
    table(`(${columns.replace('L,', 'L COLLATE NOCASE,')}) STRICT`),
    '',
  ],
  ['is not STRICT', table('(id, name, tag)'), ''],
  ['has no row ids', table(`(${columns}) WITHOUT ROWID, STRICT`), ''],
  ['has a unique column', table(`(${columns}, slug TEXT UNIQUE) STRICT`), ''],
])(
  'a file whose plants table %s is refused by a start, a check and a restore, is not changed, and can be read and backed up',
  async (_, sql, drop) => {
    alter(`INSERT INTO plants VALUES (7, 'Monstera', NULL); ${sql}`);
    if (sql.includes('DROP')) alter("INSERT INTO plants (id, name) VALUES (7, 'Monstera')");
    const before = await readFile(path);
    const altered = {
      kind: 'table-altered',
      message: `another program altered or removed the table plants of ${path}; ${drop}export the plants, and import them into a new file`,
    };
    expect((await openSqliteRepository({ path }))._unsafeUnwrapErr()).toMatchObject(altered);
    expect(checkPlants(path)._unsafeUnwrapErr()).toMatchObject(altered);
    const [backup, to] = [`${path}.backup`, `${path}.restored`];
    expect((await restorePlants({ from: path, to }))._unsafeUnwrapErr()).toMatchObject(altered);
    expect((await backUpPlants({ from: path, to: backup }))._unsafeUnwrap().plants).toBe(1);
    expect(await readAll(backup)).toEqual([{ id: 7n, name: 'Monstera' }]);
    expect(await readFile(path)).toEqual(before);
  },
);

it.each([
  'ALTER TABLE plants RENAME COLUMN tag TO label',
  'DROP TABLE plants',
  'DROP TABLE plants; CREATE TABLE notes (text); PRAGMA user_version = 0',
])('a file is neither opened nor read, as altered and not as damaged, after %s', async (sql) => {
  alter(sql);
  const kind = 'table-altered';
  const message = `another program altered or removed the table plants of ${path}; copy the plants with sqlite3, or restore a backup`;
  for (const _again of [1, 2]) expect(() => makeStore(path)).toThrow(kind);
  expect(checkPlants(path)._unsafeUnwrapErr()).toMatchObject({ kind, message });
  const to = `${path}.backup`;
  expect((await backUpPlants({ from: path, to }))._unsafeUnwrapErr().kind).toBe(kind);
});

it('a file is used, read and backed up after alterations that do not change what is stored, also while it is open', async () => {
  const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  const alterations = [
    "ALTER TABLE plants ADD COLUMN size TEXT NOT NULL DEFAULT 'small'",
    'CREATE TABLE notes (text CHECK (text <> ""))',
    'ALTER TABLE plants ADD COLUMN length INTEGER AS (length(name))',
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
  makeStore(path, plants);
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
