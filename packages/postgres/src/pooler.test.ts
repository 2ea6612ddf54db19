import { requires } from '@plantstore/test-support/requires';
import { connectSql } from '@plantstore/test-support/sql-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { outcomesOf, plantsFrom, expectStored } from '../test/behind-proxy.ts';
import { failToOpen, open, openAndClose } from '../test/open.ts';
import { poolerVersion as version, startPooler } from '../test/pooler.ts';
import { newDatabase, runSql, sharedUrl } from '../test/shared-postgres.ts';
import { readPlants } from './read/read-plants.ts';

/** Version 1.21 and later support prepared statements, unless max_prepared_statements is 0. */
const settings =
  Number(version) >= 21 ? ['= 0', '= 200'].map((n) => `max_prepared_statements ${n}`) : [''];

const columns = '(id bigint PRIMARY KEY, name text NOT NULL, tag text)';

describe.each(settings)(
  'pgbouncer in transaction mode %s',
  requires(version !== undefined, 'pgbouncer is not installed'),
  (setting) => {
    const startPooled = async (connections: number, ...statements: readonly string[]) => {
      const database = await newDatabase();
      const direct = sharedUrl(database);
      await runSql(direct, ...statements.map((text) => text.replace('$DATABASE', database)));
      const port = await startPooler(setting, connections);
      return { direct, url: `postgres://postgres@127.0.0.1:${port}/${database}` };
    };

    it('pgbouncer in transaction mode works between several repositories and a server with synchronous_commit = off', async () => {
      const { direct, url } = await startPooled(
        2,
        'ALTER DATABASE $DATABASE SET synchronous_commit = off',
      );
      const repositories = await Promise.all(Array.from({ length: 4 }, async () => open(url)));
      const plants = plantsFrom(0, 2_000);
      const outcomes = repositories.map(async (repository, index) =>
        outcomesOf(repository, plants.slice(400 * index, 400 * index + 800)),
      );
      expect(new Set((await Promise.all(outcomes)).flat())).toEqual(new Set(['ok']));
      await expectStored(direct, plants);
    });

    it('pgbouncer may give a connection to other clients: the settings of a create end with its statement', async () => {
      const { url } = await startPooled(
        1,
        'ALTER DATABASE $DATABASE SET synchronous_commit = off',
        'ALTER DATABASE $DATABASE SET client_min_messages = error',
      );
      const repository = await open(url);
      // The second one reads the plant, too.
      for (const name of ['Monstera', 'Ficus']) await repository.create({ id: 7n, name });
      const names = ['lock_timeout', 'synchronous_commit', 'client_min_messages'];
      const shown = `SELECT ${names.map((name) => `current_setting('${name}') AS ${name}`).join()}`;
      expect(await runSql(url, shown)).toEqual([
        { lock_timeout: '0', synchronous_commit: 'off', client_min_messages: 'error' },
      ]);
    });

    it.each([
      'DISCARD ALL',
      'DEALLOCATE ALL',
      `CREATE TEMPORARY TABLE plants ${columns}`,
      `CREATE SCHEMA garden CREATE TABLE plants ${columns}; SET search_path = garden`,
    ])('pgbouncer may reuse a connection on which a client ran %s', async (statements) => {
      const { direct, url } = await startPooled(1);
      const repositories = [await open(url), await open(url)];
      const plants = Array.from({ length: 4 }, (_, id) => ({ id: BigInt(id), name: 'Monstera' }));
      for (const [index, plant] of plants.entries()) {
        expect((await repositories[index % 2]?.create(plant))?.isOk()).toBe(true);
        if (index === 1) await runSql(url, ...statements.split('; '));
      }
      await expectStored(direct, plants);
    });

    it('pgbouncer may reuse a connection on which a client left a temporary table plants: a start and readPlants use the permanent one', async () => {
      const { direct, url } = await startPooled(1);
      await openAndClose(direct);
      await runSql(direct, "INSERT INTO plants VALUES (7, 'Monstera')");
      await runSql(url, `CREATE TEMPORARY TABLE plants ${columns}`);
      const repository = await open(url);
      expect(repository.warnings).toEqual([]);
      expect((await repository.create({ id: 8n, name: 'Ficus' })).isOk()).toBe(true);
      const ids: bigint[] = [];
      for await (const read of readPlants({ url })) ids.push(read._unsafeUnwrap().id);
      expect(ids).toEqual([7n, 8n]);
    });

    it('pgbouncer that has no connection left is named with its words', async () => {
      const port = await startPooler(`${setting}\nquery_wait_timeout = 1`, 1);
      const url = `postgres://postgres@127.0.0.1:${port}/${await newDatabase()}`;
      const holder = await connectSql(url);
      onTestFinished(async () => holder.end());
      await holder.query('BEGIN');
      expect(await failToOpen(url)).toMatchObject({
        kind: 'unreachable',
        message: expect.stringMatching(/no connection free.*query_wait_timeout/) as unknown,
      });
      await holder.query('COMMIT');
      await openAndClose(url);
    });

    it('pgbouncer may reuse a connection on which a repository prepared its insert for another table', async () => {
      const { direct, url } = await startPooled(1);
      const repository = await open(url);
      const [first, second] = [0n, 1n].map((id) => ({ id, name: 'Monstera' }));
      expect(await outcomesOf(repository, [first!])).toEqual(['ok']);
      await runSql(
        url,
        'DEALLOCATE ALL',
        `CREATE SCHEMA garden CREATE TABLE plants ${columns}`,
        'SET search_path = garden',
      );
      const inGarden = await open(url);
      expect(await outcomesOf(inGarden, [first!])).toEqual(['ok']);
      expect(await outcomesOf(repository, [second!])).toEqual(['ok']);
      await expectStored(direct, [first!, second!]);
      expect(await runSql(direct, 'SELECT id FROM garden.plants')).toEqual([{ id: '0' }]);
    });
  },
);
