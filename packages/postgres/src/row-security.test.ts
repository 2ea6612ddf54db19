import { expect, it } from 'vitest';
import { failToOpen, newTable, open, openAndClose } from '../test/open.ts';
import { runSql } from '../test/shared-postgres.ts';
import { readPlantBatches, readPlants } from './read/read-plants.ts';

/** Creates a table for a role, runs statements, in which ROLE is the role, and returns URLs for the superuser and the role. */
const newSecured = async (privileges: string, ...statements: readonly string[]) => {
  const { direct, url, role } = await newTable(privileges);
  const run = async (...texts: readonly string[]) =>
    runSql(direct, ...texts.map((text) => text.replace('$ROLE', role.user)));
  await run(...statements);
  return { direct, user: role.user, url, run };
};

const secured = 'ALTER TABLE plants ENABLE ROW LEVEL SECURITY';
const ours = 'CREATE POLICY ours ON plants TO $ROLE USING (true)';

const readAll = async (url: string) => {
  const ids: bigint[] = [];
  for await (const read of readPlants({ url })) {
    if (read.isErr()) return { ids, error: read.error };
    ids.push(read.value.id);
  }
  return { ids, error: undefined };
};

it.each([
  ['a policy that hides a plant', 'CREATE POLICY part ON plants FOR SELECT USING (id = 1)'],
  ['no policy', 'SELECT 1'],
  ['a policy that hides no plant', 'CREATE POLICY whole ON plants USING (true)'],
  ['FORCE for its owner', 'ALTER TABLE plants OWNER TO $ROLE, FORCE ROW LEVEL SECURITY'],
  ['a role that sets row_security to off', 'ALTER ROLE $ROLE SET row_security = off'],
])('readPlants refuses row security with %s, and states the way out', async (_, statement) => {
  const { direct, user, url, run } = await newSecured('SELECT', secured, statement);
  await run("INSERT INTO plants VALUES (1, 'a', NULL), (2, 'b', NULL)");
  const { ids, error } = await readAll(url);
  expect([ids, error?.kind]).toEqual([[], 'table-denied']);
  expect(error?.message).toContain(`ALTER ROLE "${user}" BYPASSRLS;`);
  expect(await readAll(direct)).toEqual({ ids: [1n, 2n], error: undefined });
  await run('ALTER ROLE $ROLE BYPASSRLS');
  expect(await readAll(url)).toEqual({ ids: [1n, 2n], error: undefined });
});

const select = 'SELECT * FROM public.plants';
it.each([
  ['with security_invoker', `CREATE VIEW v.plants WITH (security_invoker) AS ${select}`],
  [
    'of an owner whom policies restrict',
    `CREATE VIEW v.plants AS ${select}`,
    'ALTER VIEW v.plants OWNER TO $ROLE',
  ],
  [
    'of a function',
    `CREATE FUNCTION v.f() RETURNS SETOF public.plants LANGUAGE sql AS '${select}'`,
    'CREATE VIEW v.plants AS SELECT * FROM v.f()',
  ],
])('readPlants refuses a view %s over a table with row security', async (_, ...statements) => {
  const { user, url, run } = await newSecured(
    'SELECT',
    'CREATE SCHEMA v',
    ...statements,
    'GRANT USAGE ON SCHEMA v TO $ROLE',
    'GRANT SELECT ON v.plants TO $ROLE',
    "INSERT INTO plants VALUES (1, 'a', NULL), (2, 'b', NULL)",
  );
  const read = async () => readAll(`${url}?options=-csearch_path%3Dv`);
  expect((await read()).ids).toEqual([1n, 2n]);
  await run(secured, 'CREATE POLICY part ON plants FOR SELECT USING (id = 1)');
  const { ids, error } = await read();
  expect([ids, error?.kind]).toEqual([[], 'table-denied']);
  expect(error?.message).toContain(`ALTER ROLE "${user}" BYPASSRLS;`);
});

it('readPlantBatches yields an error when row security is enabled while it reads', async () => {
  const { url, run } = await newSecured('SELECT');
  await run("INSERT INTO plants SELECT g, 'n' FROM generate_series(1, 1500) g");
  const kinds: string[] = [];
  for await (const read of readPlantBatches({ url })) {
    kinds.push(read.isOk() ? 'plants' : read.error.kind);
    await run(secured);
  }
  expect(kinds).toEqual(['plants', 'table-denied']);
});

it('a start warns of row security, and a plant that a policy refuses or hides is plant-refused', async () => {
  const { url, run } = await newSecured(
    'SELECT, INSERT',
    secured,
    "CREATE POLICY made ON plants FOR INSERT WITH CHECK (name <> 'weed')",
    'CREATE POLICY part ON plants FOR SELECT USING (id <> 7)',
    "INSERT INTO plants VALUES (7, 'hidden', NULL)",
  );
  const repository = await open(url);
  expect(repository.warnings).toEqual([expect.stringContaining('row security is active')]);
  expect((await repository.check()).isOk()).toBe(true);
  const created = await Promise.all(
    ['weed', 'ivy', 'hidden'].map(async (name, n) =>
      repository.create({ id: BigInt(n + 5), name }),
    ),
  );
  expect(created.map((one) => (one.isOk() ? 'ok' : one.error.kind))).toEqual([
    'plant-refused',
    'ok',
    'plant-refused',
  ]);
  await run('DROP POLICY part ON plants');
  // No policy permits reading: that is a fault of the table, not of the plant.
  const unavailable = expect.objectContaining({
    kind: 'store-unavailable',
    reason: expect.stringContaining('no policy lets it read and insert') as unknown,
  }) as unknown;
  const failed = [await repository.create({ id: 1n, name: 'fig' }), await repository.check()];
  expect(failed.map((one) => one._unsafeUnwrapErr())).toEqual([unavailable, unavailable]);
  const { kind, message } = await failToOpen(url);
  expect([kind, message]).toEqual(['table-denied', expect.stringMatching(/BYPASSRLS;/)]);
  await run(ours);
  expect((await repository.create({ id: 1n, name: 'fig' })).isOk()).toBe(true);
  await openAndClose(url);
});

it.each([
  ['INSERT', 'SELECT 1', 'table-denied', 'permission denied for table plants'],
  [
    'SELECT',
    "DO $$ BEGIN EXECUTE format('REVOKE CONNECT ON DATABASE %I FROM PUBLIC', current_database()); END $$",
    'access-denied',
    'permission denied for database',
  ],
])(
  'readPlants states what PostgreSQL says when a privilege is missing: %s, %s',
  async (grants, statement, kind, message) => {
    const { url } = await newSecured(grants, statement);
    const { error } = await readAll(url);
    expect(error?.kind).toBe(kind);
    expect(error?.message).toContain(message);
  },
);
