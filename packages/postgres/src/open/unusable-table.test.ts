import { connectSql } from '@plantstore/test-support/sql-client';
import { describe, expect, it, onTestFinished } from 'vitest';
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

const collect = async (options: ReadPlantsOptions) => {
  const results = [];
  for await (const read of readPlants(options)) results.push(read);
  return results;
};

const readAll = async (
  url: string,
  onUnknownColumns: (names: readonly string[]) => void = () => {},
) => {
  const plants: unknown[] = [];
  for await (const read of readPlants({ url, onUnknownColumns })) plants.push(read._unsafeUnwrap());
  return plants;
};

describe('a table that cannot be used', () => {
  it('a missing table can be created with the statements of the message when the role may not create it', async () => {
    const database = await newDatabase();
    const role = await newRole(database);
    const error = await failToOpen(sharedUrl(database, role));
    expect(error.kind).toBe('table-denied');
    const statements =
      /let its owner run: (.*;) (.*;) \(permission denied/.exec(error.message)?.slice(1) ?? [];
    expect(statements).toEqual([
      'CREATE TABLE IF NOT EXISTS plants (id bigint PRIMARY KEY, name text NOT NULL, tag text);',
      `GRANT SELECT, INSERT ON plants TO "${role.user}";`,
    ]);
    await runSql(sharedUrl(database), ...statements);
    const repository = await open(sharedUrl(database, role));
    const names = ['Monstera', 'Monstera', 'Ficus'];
    const results = await Promise.all(
      names.map(async (name) => repository.create({ id: 7n, name })),
    );
    expect(results.map((result) => result.isOk())).toEqual([true, true, false]);
  });

  it('a table is reported as unusable when the role has no INSERT privilege', async () => {
    const database = await newDatabase();
    const role = await newRole(database);
    await openAndClose(sharedUrl(database));
    await runSql(sharedUrl(database), `GRANT SELECT ON plants TO ${role.user}`);
    expect(await failToOpen(sharedUrl(database, role))).toMatchObject({
      kind: 'table-denied',
      message: expect.stringMatching(
        /lacks a privilege .*permission denied for table plants/,
      ) as unknown,
    });
  });

  it.each([
    'CREATE TABLE plants (id integer PRIMARY KEY, name text NOT NULL, tag text)',
    'CREATE TABLE plants (id bigint, name text NOT NULL, tag text)',
    'CREATE TABLE plants (id bigint PRIMARY KEY, name varchar(100) NOT NULL, tag text)',
    'CREATE TABLE plants (id bigint PRIMARY KEY, name text, tag text)',
    'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text NOT NULL)',
    'CREATE TABLE plants (id bigint, name text NOT NULL, tag text, PRIMARY KEY (id, name))',
    'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text, colour text NOT NULL)',
    'CREATE DOMAIN paint AS text NOT NULL; CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text, colour paint)',
    'CREATE TABLE plants (id bigint PRIMARY KEY DEFERRABLE, name text NOT NULL, tag text)',
    "CREATE VIEW plants AS SELECT 1::bigint AS id, ''::text AS name, ''::text AS tag",
  ])('a table that cannot be used is refused and left unchanged: %s', async (statement) => {
    const database = await emptyDatabase();
    const columns = `SELECT * FROM information_schema.columns WHERE table_name = 'plants'`;
    await runSql(sharedUrl(database), statement);
    const before = await runSql(sharedUrl(database), columns);
    const error = await failToOpen(sharedUrl(database));
    expect(error.kind).toBe('table-foreign');
    expect(error.message).toMatch(/another plants \(id .*which was not changed/);
    expect(await runSql(sharedUrl(database), columns)).toEqual(before);
  });

  it.each([
    'size text',
    'created_at timestamptz NOT NULL DEFAULT now()',
    'length int GENERATED ALWAYS AS (length(name)) STORED',
    'row bigint GENERATED ALWAYS AS IDENTITY',
    'number serial',
    'colour paint',
  ])(
    'a table of the first version is used with the additional column %s, which is reported when it is read',
    async (column) => {
      const url = sharedUrl(await emptyDatabase());
      await runSql(
        url,
        "CREATE DOMAIN paint AS text NOT NULL DEFAULT 'green'",
        'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)',
        "INSERT INTO plants (id, name) VALUES (7, 'Monstera')",
        `ALTER TABLE plants ADD COLUMN ${column}`,
      );
      const repository = await open(url);
      const monstera = { id: 7n, name: 'Monstera' };
      const plants = columnNames
        .slice(1)
        .map((name, id) => ({ id: BigInt(id), name: 'a', [name]: 'b' }));
      for (const plant of [monstera, ...plants])
        expect((await repository.create(plant)).isOk()).toBe(true);
      expect((await repository.create({ id: 7n, name: 'Ficus' })).isOk()).toBe(false);
      const reported: (readonly string[])[] = [];
      const read = await readAll(url, (names) => reported.push(names));
      expect(read).toEqual([...plants, monstera]);
      expect(reported).toEqual([[column.split(' ')[0]]]);
    },
  );

  it('a table without a column can be read, and gets the column from its owner once no session has it locked', async () => {
    const database = await emptyDatabase();
    const role = await newRole(database);
    const url = sharedUrl(database);
    await runSql(
      url,
      'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL)',
      "INSERT INTO plants (id, name) VALUES (7, 'Monstera')",
      `GRANT SELECT ON plants TO ${role.user}`,
    );
    expect(await readAll(sharedUrl(database, role))).toStrictEqual([{ id: 7n, name: 'Monstera' }]);
    const addTag = async (text: string) => {
      const servers = new Servers({ url: text, statementTimeoutMs: 30_000 });
      const { session } = (await servers.connect())._unsafeUnwrap();
      onTestFinished(async () => session.close());
      return addColumns(session, 'public.plants', ['tag']).catch((thrown: unknown) =>
        faultOf(session.server, thrown),
      );
    };
    const statement = 'ALTER TABLE public.plants ADD COLUMN IF NOT EXISTS tag text;';
    const denied = await addTag(sharedUrl(database, role));
    expect(denied?.kind).toBe('owner-needed');
    expect(denied?.detail).toContain(`${statement} (must be owner of table plants`);
    await runSql(
      url,
      "CREATE FUNCTION forbid() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no DDL''; END'",
      'CREATE EVENT TRIGGER forbidden ON ddl_command_start EXECUTE FUNCTION forbid()',
    );
    const forbidden = await addTag(url);
    expect(forbidden?.kind).toBe('unexpected');
    expect(forbidden?.detail).toContain('no DDL (P0001)');
    const holder = await connectSql(url);
    onTestFinished(async () => holder.end());
    await holder.query('DROP EVENT TRIGGER forbidden');
    await holder.query('BEGIN; SELECT * FROM plants');
    const locked = await addTag(url);
    expect(locked?.kind).toBe('no-response');
    expect(locked?.detail).toContain('canceling statement due to lock timeout');
    await holder.query('ROLLBACK');
    expect(await addTag(url)).toBeUndefined();
    expect(await addTag(url)).toBeUndefined();
    await openAndClose(url);
  });

  it.each([
    [
      'UNLOGGED',
      'CREATE UNLOGGED TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)',
    ],
    [
      'UNLOGGED',
      'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text) PARTITION BY RANGE (id)',
      'CREATE UNLOGGED TABLE every_plant PARTITION OF plants DEFAULT',
    ],
    [
      'UNLOGGED',
      'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text) PARTITION BY RANGE (id)',
      'CREATE TABLE every_plant PARTITION OF plants DEFAULT PARTITION BY RANGE (id)',
      'CREATE UNLOGGED TABLE each_plant PARTITION OF every_plant DEFAULT',
    ],
    [
      'no partition',
      'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text) PARTITION BY RANGE (id)',
    ],
    [
      'inherited from',
      'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)',
      'CREATE TABLE trees () INHERITS (plants)',
    ],
    [
      'cannot insert a non-DEFAULT value into column "id"',
      'CREATE TABLE plants (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, tag text)',
    ],
    [
      'cannot insert a non-DEFAULT value into column "tag"',
      `CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text GENERATED ALWAYS AS ('') STORED)`,
    ],
    [
      'cannot perform INSERT RETURNING',
      'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)',
      'CREATE RULE nothing AS ON INSERT TO plants DO INSTEAD NOTHING',
    ],
  ])(
    'a table is refused when plants could be lost or not be inserted: %s',
    async (found, ...statements) => {
      const database = await emptyDatabase();
      await runSql(sharedUrl(database), ...statements);
      expect(await failToOpen(sharedUrl(database))).toMatchObject({
        kind: 'table-foreign',
        message: expect.stringContaining(found) as unknown,
      });
    },
  );

  it.each([
    ['CREATE TABLE t (x int)', 'CREATE INDEX plants ON t (x)'],
    ['CREATE SEQUENCE plants'],
    ['CREATE TYPE plants AS (x int)'],
    ["CREATE TYPE plants AS ENUM ('x')"],
  ])(
    'a start and readPlants find no table where something else has its name: %s',
    async (...statements) => {
      const url = sharedUrl(await emptyDatabase());
      await runSql(url, ...statements);
      expect((await failToOpen(url)).kind).toBe('table-missing');
      const [read] = await collect({ url });
      expect(read?._unsafeUnwrapErr().kind).toBe('table-missing');
    },
  );

  it.each(['numeric', 'float8', 'text'])(
    'readPlants refuses a table whose id is %s',
    async (type) => {
      const url = sharedUrl(await emptyDatabase());
      await runSql(
        url,
        `CREATE TABLE plants (id ${type} PRIMARY KEY, name text NOT NULL, tag text)`,
        "INSERT INTO plants VALUES ('9223372036854775808', 'Monstera')",
      );
      const [read] = await collect({ url });
      expect(read?._unsafeUnwrapErr().kind).toBe('table-foreign');
    },
  );

  it('readPlants names the definition of a table whose column is not of text', async () => {
    const url = sharedUrl(await emptyDatabase());
    await runSql(url, 'CREATE TABLE plants (id bigint PRIMARY KEY, name varchar(9), tag integer)');
    const [read] = await collect({ url });
    expect(read?._unsafeUnwrapErr()).toMatchObject({
      kind: 'table-foreign',
      message: expect.stringContaining('name character varying(9), tag integer') as unknown,
    });
    await runSql(
      url,
      'ALTER TABLE plants ALTER tag TYPE char(2)',
      "INSERT INTO plants VALUES (7, 'a', 'b')",
    );
    expect(await readAll(url)).toEqual([{ id: 7n, name: 'a', tag: 'b ' }]);
  });

  it.each(['onTable', 'onUnknownColumns'])(
    'readPlants rejects with an exception of %s',
    async (name) => {
      const url = sharedUrl(await emptyDatabase());
      await openAndClose(url);
      await runSql(url, 'ALTER TABLE plants ADD COLUMN colour text');
      const fail = () => {
        throw new Error('mine');
      };
      await expect(collect({ url, [name]: fail })).rejects.toThrow('mine');
      await expect.poll(async () => connectionsOf(url)).toBe(0);
    },
  );

  it('a start that an event trigger forbids to create the table shows the words of the trigger', async () => {
    const url = sharedUrl(await newDatabase());
    await runSql(
      url,
      "CREATE FUNCTION forbid() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no DDL on Friday''; END'",
      'CREATE EVENT TRIGGER forbidden ON ddl_command_start EXECUTE FUNCTION forbid()',
    );
    const { kind, message } = await failToOpen(url);
    expect([kind, message]).toEqual([
      'unexpected',
      expect.stringContaining('no DDL on Friday (P0001)'),
    ]);
  });

  it('a table is reported as unusable when the role has no USAGE privilege on its schema, and opens once it is granted', async () => {
    const database = await newDatabase();
    const role = await newRole(database);
    await openAndClose(sharedUrl(database));
    await runSql(
      sharedUrl(database),
      `GRANT SELECT, INSERT ON plants TO ${role.user}`,
      'REVOKE USAGE ON SCHEMA public FROM PUBLIC',
    );
    const error = await failToOpen(sharedUrl(database, role));
    expect(error.kind).toBe('table-missing');
    expect(error.message).toMatch(/USAGE privilege.*no schema has been selected/);
    await runSql(sharedUrl(database), `GRANT USAGE ON SCHEMA public TO ${role.user}`);
    await openAndClose(sharedUrl(database, role));
  });

  it('a missing table can be created with the statements of the message in the schema that the options name', async () => {
    const database = await newDatabase();
    const role = await newRole(database);
    const url = `${sharedUrl(database, role)}?options=-csearch_path%3D%22Ada's%5C%20garden%22`;
    expect((await failToOpen(url)).message).toContain('no schema has been selected');
    await runSql(
      sharedUrl(database),
      `CREATE SCHEMA "Ada's garden"`,
      `GRANT USAGE ON SCHEMA "Ada's garden" TO ${role.user}`,
    );
    const { message } = await failToOpen(url);
    const statements = /run: (.*;) (.*;) \(/.exec(message)?.slice(1) ?? [];
    await runSql(sharedUrl(database), `SET search_path = "Ada's garden"`, ...statements);
    await openAndClose(url);
  });

  it('a table is reported as unusable when another session has it locked', async () => {
    const url = sharedUrl(await emptyDatabase());
    await openAndClose(url);
    const holder = await connectSql(url);
    onTestFinished(async () => holder.end());
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE plants');
    expect(await failToOpen(url, { statementTimeoutMs: 200 })).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('or the table plants may be locked') as unknown,
    });
  });

  it('a table is refused when the role may not execute pg_logical_emit_message', async () => {
    const database = await newDatabase();
    const role = await newRole(database);
    await openAndClose(sharedUrl(database));
    const functions = await runSql(
      sharedUrl(database),
      `SELECT oid::regprocedure AS name FROM pg_proc WHERE proname = 'pg_logical_emit_message'`,
    );
    await runSql(
      sharedUrl(database),
      `GRANT SELECT, INSERT ON plants TO ${role.user}`,
      ...functions.map(({ name }) => `REVOKE EXECUTE ON FUNCTION ${String(name)} FROM PUBLIC`),
    );
    const error = await failToOpen(sharedUrl(database, role));
    expect([error.kind, error.message]).toEqual([
      'table-denied',
      expect.stringContaining('permission denied for function pg_logical_emit_message'),
    ]);
    await runSql(
      sharedUrl(database),
      ...functions.map(({ name }) => `GRANT EXECUTE ON FUNCTION ${String(name)} TO ${role.user}`),
    );
    await openAndClose(sharedUrl(database, role));
  });

  it('a table is found in the schema that the options name', async () => {
    const database = await newDatabase();
    const schema = '"Ada""s_garden"';
    await runSql(sharedUrl(database), 'CREATE TABLE plants (x int)', `CREATE SCHEMA ${schema}`);
    const options = encodeURIComponent(`-csearch_path=${schema}`);
    await openAndClose(`${sharedUrl(database)}?options=${options}`);
    expect(await runSql(sharedUrl(database), `SELECT * FROM ${schema}.plants`)).toEqual([]);
  });

  it('a table is refused in a database that is not in UTF-8', async () => {
    const database = await newDatabase("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    expect(await failToOpen(sharedUrl(database))).toMatchObject({
      kind: 'encoding-unsupported',
      message: expect.stringContaining('must be in UTF-8') as unknown,
    });
  });
});
