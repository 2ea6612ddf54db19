import { expect, it } from 'vitest';
import { failToOpen, newTable, open } from '../../test/open.ts';
import { runSql } from '../../test/shared-postgres.ts';
import { readPlants } from '../read/read-plants.ts';

const table = 'plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)';

it('a start creates no second table when another search path hides the first, unless the URL names the path', async () => {
  const { database, direct, url } = await newTable();
  await runSql(
    direct,
    'CREATE SCHEMA o',
    `GRANT ALL ON SCHEMA o TO ${new URL(url).username}`,
    `ALTER DATABASE ${database} SET search_path = o`,
  );
  expect(await failToOpen(url)).toMatchObject({
    kind: 'table-missing',
    message: expect.stringMatching(/there is one in public: .*options=-csearch_path=/) as unknown,
  });
  const named = await open(`${url}?options=-csearch_path%3Do`);
  expect([named.table, named.warnings]).toEqual([`"o".plants in ${database}`, []]);
  const repository = await open(url);
  expect(repository.table).toBe(named.table);
  expect(repository.warnings).toEqual([expect.stringMatching(/tables plants in public, too/)]);
});

it('a repository names its table, and warns of other tables plants that the role may read', async () => {
  const { database, direct, role, url } = await newTable();
  await runSql(direct, 'CREATE SCHEMA other', `CREATE TABLE other.${table}`);
  const { table: named, warnings } = await open(url);
  expect([named, warnings]).toEqual([`"public".plants in ${database}`, []]);
  await runSql(
    direct,
    `GRANT USAGE ON SCHEMA other TO ${role.user}`,
    `GRANT SELECT ON other.plants TO ${role.user}`,
  );
  const warned = await open(url);
  expect(warned.table).toBe(named);
  expect(warned.warnings).toEqual([expect.stringMatching(/there are tables plants in other/)]);
});

it('readPlants reads one table, also when another one comes first on the search path while it reads', async () => {
  const { direct: url } = await newTable();
  await runSql(url, "INSERT INTO plants SELECT g, 'n' FROM generate_series(1, 1500) g");
  let plants = 0;
  for await (const read of readPlants({ url })) {
    read._unsafeUnwrap();
    plants += 1;
    if (plants === 1) await runSql(url, 'CREATE SCHEMA postgres', `CREATE TABLE postgres.${table}`);
  }
  expect(plants).toBe(1_500);
});
