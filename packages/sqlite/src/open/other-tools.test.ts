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

const { DatabaseSync } = process.getBuiltinModule('node:sqlite');

const plants: readonly NewPlant[] = [
  { id: -1n, name: 'Ficus', tag: '' },
  { id: 7n, name: 'Monstera' },
  { id: 2n ** 63n - 1n, name: 'Monstera', tag: 'climber' },
];

let original = '';
let path = '';
beforeEach(async () => {
  const folder = await makeFolder();
  [original, path] = [join(folder, 'plants.db'), join(folder, 'made.db')];
  makeStore(original, plants);
});

/** Runs statements on the file of another tool, with the original store attached as "a". */
const run = (sql: string): void => {
  const database = new DatabaseSync(path);
  database.exec(`ATTACH '${original}' AS a; BEGIN; ${sql}; COMMIT`);
  database.close();
};

const read = async (from: string) => {
  const found: unknown[] = [];
  for await (const one of readPlants({ path: from }))
    found.push(
      one.match<unknown>(
        (plant) => plant,
        ({ kind, message }) => ({ kind, message }),
      ),
    );
  return found;
};

const numbersOf = (file: string) => {
  const database = new DatabaseSync(file, { readOnly: true });
  const sql = 'SELECT application_id, user_version FROM pragma_application_id, pragma_user_version';
  const numbers = Object.values(database.prepare(sql).get() ?? {});
  database.close();
  return numbers;
};

// What sqlite3's .dump and .clone and Python's iterdump copy: statements, and no numbers of the header.
const dump =
  'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT; INSERT INTO plants SELECT id, name, tag FROM a.plants';

it.each([
  ['no numbers, as a dump', ''],
  ['version 5', 'PRAGMA application_id = 0x506c6e74; PRAGMA user_version = 5'],
  ['the id of another application', 'PRAGMA application_id = 9; PRAGMA user_version = 1'],
])(
  'a file whose table is that of a store, with %s, is read, checked, backed up, restored and adopted',
  async (_, sql) => {
    run(`${dump}; ${sql}`);
    expect(await read(path)).toEqual(plants);
    expect(checkPlants(path)._unsafeUnwrap()).toMatchObject({ plants: 3, damage: [] });
    const [backup, restored] = [`${path}.backup`, `${path}.restored`];
    expect((await backUpPlants({ from: path, to: backup }))._unsafeUnwrap().plants).toBe(3);
    expect((await restorePlants({ from: backup, to: restored }))._unsafeUnwrap().plants).toBe(3);
    for (const file of [path, restored]) {
      makeStore(file, plants);
      expect(numbersOf(file)).toEqual([0x506c6e74, 1]);
      expect(await read(file)).toEqual(plants);
    }
  },
);

it.each([
  ['CREATE TABLE AS', 'CREATE TABLE plants AS SELECT * FROM a.plants'],
  [
    'pandas',
    'CREATE TABLE "plants" ("index" BIGINT, "id" BIGINT, "name" TEXT, "tag" TEXT); INSERT INTO plants SELECT 0, id, name, tag FROM a.plants',
  ],
  [
    'another order and case of columns',
    'CREATE TABLE plants (tag TEXT, NAME TEXT, Id INTEGER PRIMARY KEY); INSERT INTO plants SELECT tag, name, id FROM a.plants',
  ],
  ['a view', 'CREATE TABLE t AS SELECT * FROM a.plants; CREATE VIEW plants AS SELECT * FROM t'],
])('a table by %s is read, backed up, and not changed by a start', async (_, sql) => {
  run(sql);
  const before = await readFile(path);
  expect(await read(path)).toEqual(plants);
  const backup = await backUpPlants({ from: path, to: `${path}.backup` });
  expect(backup._unsafeUnwrap().plants).toBe(3);
  expect((await openSqliteRepository({ path }))._unsafeUnwrapErr().kind).toBe('table-altered');
  expect(await readFile(path)).toEqual(before);
});

it('each row of another tool that is no plant is named, and every other row is read', async () => {
  // The first 1,000 rows are a batch.
  run(`CREATE TABLE plants (id, name BLOB, tag);
    WITH RECURSIVE n(i) AS (SELECT -1500 UNION ALL SELECT i + 1 FROM n WHERE i < -1)
    INSERT INTO plants SELECT i, CAST(i AS TEXT), NULL FROM n;
    INSERT INTO plants VALUES (NULL, 'a', NULL), (1, NULL, NULL), (2, 5, NULL), (3, 'a', x'00'), (7, 'Monstera', NULL),
    (7, 'Ficus', NULL), (7.5, 'a', NULL), (${2n ** 63n - 1n}, 'Monstera', 'climber'), ('7', 'a', NULL), (x'01', 'a', NULL)`);
  const found = await read(path);
  const faults = [
    '"null": the id is no integer',
    '1: the name is no text',
    '2: the name is no text',
    '3: the tag is no text',
    '7: another row has this id',
    '"7.5": the id is no integer',
    '"7": the id is no integer',
    '"1": the id is no integer',
  ];
  expect(found.filter((one) => Object.hasOwn(one as object, 'kind'))).toEqual(
    faults.map((fault) => ({
      kind: 'not-a-plant',
      message: `${path} has a row that is no plant, with the id ${fault}; correct or delete it with sqlite3, in a table with the columns id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT`,
    })),
  );
  expect(found).toHaveLength(1_500 + faults.length + 2);
  expect(found).toContainEqual(plants[1]);
  expect(found).toContainEqual(plants[2]);
});

it.each([dump, 'CREATE TABLE plants AS SELECT * FROM a.plants'])(
  'a row with a text that is not UTF-8 or has U+0000 is named, and one with U+FFFD is read, after %s',
  async (sql) => {
    const plant = { id: 9n, name: '\u{fffd}', tag: '\u{fffd}' };
    run(`${sql}; INSERT INTO plants VALUES (8, CAST(x'636166e9' AS TEXT), NULL),
      (9, '${plant.name}', '${plant.tag}'), (10, 'a' || char(0), NULL), (11, 'a', char(0))`);
    const fault = expect.objectContaining({ kind: 'not-a-plant' }) as unknown;
    const expected = [plants[0], plants[1], fault, plant, fault, fault, plants[2]];
    expect(await read(path)).toEqual(expected);
  },
);
