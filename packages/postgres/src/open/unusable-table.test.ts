import { connectSql } from '@plantstore/test-support/sql-client';
import { expect, it, onTestFinished } from 'vitest';
import { failToOpen, newRole, open, openAndClose } from '../../test/open.ts';
import {
  connectionsOf,
  emptyDatabase,
  newDatabase,
  runSql,
  sharedUrl,
} from '../../test/shared-postgres.ts';
import { columnNames } from './columns.ts';
import { Servers } from './connect.ts';
import { faultOf } from './errors.ts';
import { addColumns } from './table.ts';
import { readPlants, type ReadPlantsOptions } from '../read/read-plants.ts';

/** Reads all plants. Throws an error that is read. */
const readAll = async (options: ReadPlantsOptions) => {
  const plants: unknown[] = [];
  for await (const read of readPlants(options)) {
    if (read.isErr()) throw read.error;
    plants.push(read.value);
  }
  return plants;
};

/** Creates a table with SQL, in which TABLE is a table of plants. */
const newWith = async (...statements: readonly string[]) => {
  const url = sharedUrl(await emptyDatabase());
  const columns = 'plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)';
  await runSql(url, ...statements.map((text) => text.replace('TABLE!', `TABLE ${columns}`)));
  return url;
};

const newWithRole = async () => {
  const database = await newDatabase();
  const role = await newRole(database);
  return { direct: sharedUrl(database), url: sharedUrl(database, role), user: role.user };
};

it('a missing table can be created with the statements of the message, in any schema, when the role may not create it', async () => {
  const { direct, url, user } = await newWithRole();
  const options = `?options=-csearch_path%3D%22Ada's%22%22garden%22`;
  expect(await failToOpen(url + options)).toMatchObject({
    message: expect.stringContaining('no schema has been selected') as unknown,
  });
  const schema = '"Ada\'s""garden"';
  await runSql(direct, `CREATE SCHEMA ${schema}`, `GRANT USAGE ON SCHEMA ${schema} TO ${user}`);
  const { kind, message } = await failToOpen(url + options);
  const statements = /run (.*;) (.*;) because permission denied/.exec(message)?.slice(1) ?? [];
  expect([kind, ...statements]).toEqual([
    'table-denied',
    'CREATE TABLE IF NOT EXISTS plants (id bigint PRIMARY KEY, name text NOT NULL, tag text);',
    `GRANT SELECT, INSERT ON plants TO "${user}";`,
  ]);
  await runSql(direct, `SET search_path = ${schema}`, ...statements);
  const repository = await open(url + options);
  expect((await repository.create({ id: 7n, name: 'Monstera' })).isOk()).toBe(true);
  expect(await runSql(direct, `SELECT id FROM ${schema}.plants`)).toEqual([{ id: '7' }]);
});

it('a start names the privilege that a role lacks', async () => {
  const { direct, url, user } = await newWithRole();
  await openAndClose(direct);
  await runSql(direct, `GRANT SELECT ON plants TO ${user}`);
  const denied = /lacks a privilege .*: let its owner grant it.*permission denied for table plants/;
  expect(await failToOpen(url)).toMatchObject({
    kind: 'table-denied',
    message: expect.stringMatching(denied) as unknown,
  });
  await runSql(
    direct,
    `GRANT INSERT ON plants TO ${user}`,
    'REVOKE USAGE ON SCHEMA public FROM PUBLIC',
  );
  expect(await failToOpen(url)).toMatchObject({
    kind: 'table-missing',
    message: expect.stringMatching(/USAGE privilege.*no schema has been selected/) as unknown,
  });
  await runSql(direct, `GRANT USAGE ON SCHEMA public TO ${user}`);
  await openAndClose(url);
});

const range = 'CREATE TABLE! PARTITION BY RANGE (id)';
it.each([
  ['id integer', 'CREATE TABLE plants (id integer PRIMARY KEY, name text NOT NULL, tag text)'],
  ['id bigint', 'CREATE TABLE plants (id bigint, name text NOT NULL, tag text, UNIQUE (id, name))'],
  ['name text NOT NULL', 'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL)'],
  ['varying', 'CREATE TABLE plants (id bigint PRIMARY KEY, name varchar NOT NULL, tag text)'],
  ['name text,', 'CREATE TABLE plants (id bigint PRIMARY KEY, name text, tag text)'],
  [
    'tag text NOT',
    'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text NOT NULL)',
  ],
  ['colour text', 'CREATE TABLE!', 'ALTER TABLE plants ADD colour text NOT NULL'],
  [
    'colour paint',
    'CREATE DOMAIN paint AS text NOT NULL',
    'CREATE TABLE!',
    'ALTER TABLE plants ADD colour paint',
  ],
  [
    'id bigint',
    'CREATE TABLE plants (id bigint PRIMARY KEY DEFERRABLE, name text NOT NULL, tag text)',
  ],
  ['id bigint', "CREATE VIEW plants AS SELECT 1::bigint AS id, ''::text AS name, ''::text AS tag"],
  ['UNLOGGED', 'CREATE UNLOGGED TABLE!'],
  ['UNLOGGED', range, 'CREATE UNLOGGED TABLE every_plant PARTITION OF plants DEFAULT'],
  [
    'UNLOGGED',
    range,
    'CREATE TABLE every_plant PARTITION OF plants DEFAULT PARTITION BY RANGE (id)',
    'CREATE UNLOGGED TABLE each_plant PARTITION OF every_plant DEFAULT',
  ],
  ['no partition', range],
  ['inherited from', 'CREATE TABLE!', 'CREATE TABLE trees () INHERITS (plants)'],
  [
    'cannot insert a non-DEFAULT value into column "tag"',
    "CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text GENERATED ALWAYS AS ('') STORED)",
  ],
  [
    'cannot perform INSERT RETURNING',
    'CREATE TABLE!',
    'CREATE RULE nothing AS ON INSERT TO plants DO INSTEAD NOTHING',
  ],
])('a table is refused and left unchanged: %s', async (found, ...statements) => {
  const url = await newWith(...statements);
  const columns = `SELECT * FROM pg_attribute WHERE attrelid = 'plants'::regclass`;
  const before = await runSql(url, columns);
  const { kind, message } = await failToOpen(url);
  expect([kind, message]).toEqual([
    'table-foreign',
    expect.stringMatching(/another plants \(.*which was not changed/),
  ]);
  expect(message).toContain(found);
  expect(await runSql(url, columns)).toEqual(before);
  await expect.poll(async () => connectionsOf(url)).toBe(0);
});

it.each([
  'size text',
  'length int GENERATED ALWAYS AS (length(name)) STORED',
  'row bigint GENERATED ALWAYS AS IDENTITY',
  'number serial',
  'colour paint',
])(
  'a table is used with the additional column %s, which is reported when it is read',
  async (column) => {
    const url = await newWith(
      "CREATE DOMAIN paint AS text NOT NULL DEFAULT 'green'",
      'CREATE TABLE!',
      `ALTER TABLE plants ADD COLUMN ${column}`,
    );
    const repository = await open(url);
    const plants = columnNames
      .slice(1)
      .map((name, id) => ({ id: BigInt(id), name: 'a', [name]: 'b' }));
    for (const plant of plants) expect((await repository.create(plant)).isOk()).toBe(true);
    expect((await repository.create({ id: 0n, name: 'Ficus' })).isOk()).toBe(false);
    expect((await repository.check()).isOk()).toBe(true);
    const reported: (readonly string[])[] = [];
    expect(await readAll({ url, onUnknownColumns: (names) => reported.push(names) })).toEqual(
      plants,
    );
    expect(reported).toEqual([[column.split(' ')[0]]]);
  },
);

it('a table without a column can be read, and gets the column from its owner once no session has it locked', async () => {
  const { direct, url, user } = await newWithRole();
  await runSql(
    direct,
    'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL)',
    "INSERT INTO plants (id, name) VALUES (7, 'Monstera')",
    `GRANT SELECT ON plants TO ${user}`,
  );
  expect(await readAll({ url })).toStrictEqual([{ id: 7n, name: 'Monstera' }]);
  const addTag = async (text: string) => {
    const servers = new Servers({ url: text, statementTimeoutMs: 30_000 });
    const { session } = (await servers.connect())._unsafeUnwrap();
    onTestFinished(async () => session.close());
    return addColumns(session, 'public.plants', ['tag']).catch((thrown: unknown) =>
      faultOf(session.server, thrown),
    );
  };
  expect(await addTag(url)).toMatchObject({
    kind: 'table-denied',
    detail: expect.stringMatching(
      /run ALTER TABLE public\.plants ADD COLUMN IF NOT EXISTS tag text; because must be owner/,
    ) as unknown,
  });
  const holder = await connectSql(direct);
  onTestFinished(async () => holder.end());
  await holder.query('BEGIN; SELECT * FROM plants');
  expect(await addTag(direct)).toMatchObject({
    kind: 'no-response',
    detail: expect.stringContaining('canceling statement due to lock timeout') as unknown,
  });
  await holder.query('ROLLBACK');
  for (const _ of ['first', 'again']) expect(await addTag(direct)).toBeUndefined();
  await openAndClose(direct);
});

it.each([
  ['CREATE TABLE t (x int)', 'CREATE INDEX plants ON t (x)'],
  ['CREATE SEQUENCE plants'],
  ['CREATE TYPE plants AS (x int)'],
])(
  'a start and readPlants find no table where something else has its name: %s',
  async (...texts) => {
    const url = await newWith(...texts);
    expect((await failToOpen(url)).kind).toBe('table-missing');
    await expect(readAll({ url })).rejects.toMatchObject({ kind: 'table-missing' });
  },
);

it.each([
  'id numeric, name text, tag text',
  'id float8, name text, tag text',
  'id text, name text, tag text',
  'id bigint, name varchar(9), tag integer',
])('readPlants refuses a table with the columns %s, and names them', async (columns) => {
  const url = await newWith(
    `CREATE TABLE plants (${columns})`,
    "INSERT INTO plants VALUES ('9223372036854775807', 'Monstera')",
  );
  const definition = columns
    .replace('float8', 'double precision')
    .replace('varchar', 'character varying');
  await expect(readAll({ url })).rejects.toMatchObject({
    kind: 'table-foreign',
    message: expect.stringContaining(`(${definition})`) as unknown,
  });
});

it('readPlants rejects with an exception of a callback, and keeps no connection', async () => {
  const url = await newWith('CREATE TABLE!', 'ALTER TABLE plants ADD COLUMN colour text');
  const fail = () => {
    throw new Error('mine');
  };
  for (const name of ['onTable', 'onUnknownColumns'])
    await expect(readAll({ url, [name]: fail })).rejects.toThrow('mine');
  await expect.poll(async () => connectionsOf(url)).toBe(0);
});

it('a start that an event trigger forbids to create the table shows the words of the trigger', async () => {
  const url = sharedUrl(await newDatabase());
  await runSql(
    url,
    "CREATE FUNCTION forbid() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no DDL''; END'",
    'CREATE EVENT TRIGGER forbidden ON ddl_command_start EXECUTE FUNCTION forbid()',
  );
  expect(await failToOpen(url)).toMatchObject({
    kind: 'unexpected',
    message: expect.stringContaining('no DDL (P0001)') as unknown,
  });
});

it('a table is refused in a database that is not in UTF-8', async () => {
  const database = await newDatabase("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  expect(await failToOpen(sharedUrl(database))).toMatchObject({
    kind: 'encoding-unsupported',
    message: expect.stringContaining('must be in UTF-8') as unknown,
  });
});
