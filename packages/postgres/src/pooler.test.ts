import type { PlantRepository } from '@plantstore/core';
import { requires } from '@plantstore/test-support/requires';
import { connectSql } from '@plantstore/test-support/sql-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { failToOpen, open, openAndClose } from '../test/open.ts';
import { expectStored, startLoad } from '../test/load.ts';
import { poolerVersion as version, startPooler } from '../test/pooler.ts';
import { newDatabase, runSql, sharedUrl } from '../test/shared-postgres.ts';
import { readPlants } from './read/read-plants.ts';

/** Version 1.21 and later support prepared statements, unless max_prepared_statements is 0. */
const settings =
  Number(version) >= 21 ? ['= 0', '= 200'].map((n) => `max_prepared_statements ${n}`) : [''];

describe.each(settings)(
  'pgbouncer in transaction mode %s',
  requires(version !== undefined, 'pgbouncer is not installed'),
  (setting) => {
    it('pgbouncer in transaction mode works between several repositories and a server with synchronous_commit = off', async () => {
      const database = await newDatabase();
      const direct = sharedUrl(database);
      await runSql(direct, `ALTER DATABASE ${database} SET synchronous_commit = off`);
      const url = `postgres://postgres@127.0.0.1:${await startPooler(setting)}/${database}`;
      const repositories = await Promise.all(Array.from({ length: 4 }, async () => open(url)));
      const load = startLoad(repositories);
      onTestFinished(load.stop);
      await load.progress(2_000);
      await load.stop();
      expect(load.unavailable).toEqual([]);
      await expectStored(direct, load.acknowledged);
      const taken = await repositories[0]?.create({ ...load.acknowledged[0]!, name: 'other' });
      expect(taken?.isErr() && taken.error.kind).toBe('id-taken');
    });

    it('pgbouncer may give a connection to other clients: the settings of a create end with its statement', async () => {
      const database = await newDatabase();
      await runSql(
        sharedUrl(database),
        `ALTER DATABASE ${database} SET synchronous_commit = off`,
        `ALTER DATABASE ${database} SET client_min_messages = error`,
      );
      const url = `postgres://postgres@127.0.0.1:${await startPooler(setting, 1)}/${database}`;
      const repository = await open(url);
      // The second one reads the plant, too.
      for (const name of ['Monstera', 'Ficus']) await repository.create({ id: 7n, name });
      const names = ['lock_timeout', 'synchronous_commit', 'client_min_messages'];
      const shown = `SELECT ${names.map((name) => `current_setting('${name}') AS ${name}`).join()}`;
      expect(await runSql(url, shown)).toEqual([
        { lock_timeout: '0', synchronous_commit: 'off', client_min_messages: 'error' },
      ]);
    });

    it('pgbouncer may reuse a connection on which a client left another table named plants', async () => {
      const database = await newDatabase();
      const url = `postgres://postgres@127.0.0.1:${await startPooler(setting, 1)}/${database}`;
      const repository = await open(url);
      const columns = '(id bigint PRIMARY KEY, name text NOT NULL, tag text)';
      const left = [
        `CREATE TEMPORARY TABLE plants ${columns}`,
        `CREATE SCHEMA garden CREATE TABLE plants ${columns} SET search_path = garden`,
      ];
      const plants = left.map((_, index) => ({ id: BigInt(index), name: 'Monstera' }));
      for (const [index, plant] of plants.entries()) {
        await runSql(url, ...(left[index]?.split(/ (?=SET )/) ?? []));
        expect((await repository.create(plant)).isOk()).toBe(true);
      }
      await expectStored(sharedUrl(database), plants);
    });

    it('pgbouncer may reuse a connection on which a client left a temporary table plants: a start and readPlants use the permanent one', async () => {
      const database = await newDatabase();
      const direct = sharedUrl(database);
      await openAndClose(direct);
      await runSql(direct, "INSERT INTO plants VALUES (7, 'Monstera')");
      const url = `postgres://postgres@127.0.0.1:${await startPooler(setting, 1)}/${database}`;
      await runSql(url, 'CREATE TEMPORARY TABLE plants (LIKE public.plants INCLUDING ALL)');
      const repository = await open(url);
      expect(repository.warnings).toEqual([]);
      expect((await repository.create({ id: 8n, name: 'Ficus' })).isOk()).toBe(true);
      const ids: bigint[] = [];
      for await (const read of readPlants({ url })) ids.push(read._unsafeUnwrap().id);
      expect(ids).toEqual([7n, 8n]);
    });

    it('pgbouncer that has no connection left is named with its advice', async () => {
      const port = await startPooler(`${setting}\nquery_wait_timeout = 1`, 1);
      const url = `postgres://postgres@127.0.0.1:${port}/${await newDatabase()}`;
      const holder = await connectSql(url);
      onTestFinished(async () => holder.end());
      await holder.query('BEGIN');
      const { kind, message } = await failToOpen(url);
      expect([kind, message]).toEqual([
        'unreachable',
        expect.stringMatching(/the pooler has no connection to the database.*query_wait_timeout/),
      ]);
      await holder.query('COMMIT');
      await openAndClose(url);
    });

    it.each(['DISCARD ALL', 'DEALLOCATE ALL'])(
      'pgbouncer may reuse a connection on which a client ran %s',
      async (statement) => {
        const database = await newDatabase();
        const url = `postgres://postgres@127.0.0.1:${await startPooler(setting, 1)}/${database}`;
        const repositories = [await open(url), await open(url)];
        const plants = Array.from({ length: 6 }, (_, id) => ({ id: BigInt(id), name: 'Monstera' }));
        for (const [index, plant] of plants.entries()) {
          expect((await repositories[index % 2]?.create(plant))?.isOk()).toBe(true);
          if (index % 2 === 1) await runSql(url, statement);
        }
        await expectStored(sharedUrl(database), plants);
      },
    );

    it('pgbouncer may reuse a connection on which a repository prepared its insert for another table', async () => {
      const database = await newDatabase();
      const url = `postgres://postgres@127.0.0.1:${await startPooler(setting, 1)}/${database}`;
      const plants = Array.from({ length: 2 }, (_, id) => ({ id: BigInt(id), name: 'Monstera' }));
      const create = async (repository: PlantRepository, id: number) =>
        expect((await repository.create(plants[id]!)).isOk()).toBe(true);
      const repository = await open(url);
      await create(repository, 0);
      await runSql(
        url,
        'DEALLOCATE ALL',
        'CREATE SCHEMA garden CREATE TABLE plants (LIKE public.plants INCLUDING ALL)',
        'SET search_path = garden',
      );
      const inGarden = await open(url);
      await create(inGarden, 0);
      await create(repository, 1);
      await expectStored(sharedUrl(database), plants);
      const count = await runSql(sharedUrl(database), 'SELECT count(*)::int FROM garden.plants');
      expect(count).toEqual([{ count: 1 }]);
    });
  },
);
