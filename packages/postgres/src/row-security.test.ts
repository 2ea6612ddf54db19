import { expect, it } from 'vitest';
import { outcomesOf } from '../test/behind-proxy.ts';
import { failToOpen, newTable, open, openAndClose } from '../test/open.ts';
import { runSql } from '../test/shared-postgres.ts';
import { readPlants } from './read/read-plants.ts';

/** Creates a table for a role, runs statements, in which $ROLE is the role, and returns URLs for the superuser and the role. */
const newSecured = async (privileges: string, ...statements: readonly string[]) => {
  const { direct, url, role } = await newTable(privileges);
  const run = async (...texts: readonly string[]) =>
    runSql(direct, ...texts.map((text) => text.replace('$ROLE', role.user)));
  await run("INSERT INTO plants VALUES (1, 'a'), (2, 'b')", ...statements);
  return { direct, user: role.user, url, run };
};

const secured = 'ALTER TABLE plants ENABLE ROW LEVEL SECURITY';
const part = 'CREATE POLICY part ON plants FOR SELECT USING (id = 1)';

const readAll = async (url: string) => {
  const ids: bigint[] = [];
  for await (const read of readPlants({ url })) {
    if (read.isErr()) return { ids, error: read.error };
    ids.push(read.value.id);
  }
  return { ids, error: undefined };
};
const whole = { ids: [1n, 2n], error: undefined };

const expectRefused = async (url: string, user: string) => {
  const { ids, error } = await readAll(url);
  expect([ids, error?.kind]).toEqual([[], 'table-denied']);
  expect(error?.message).toContain(`ALTER ROLE "${user}" BYPASSRLS;`);
};

it.each([
  ['a policy that hides a plant', part],
  ['a policy that hides no plant', 'CREATE POLICY whole ON plants USING (true)'],
  ['FORCE for its owner', 'ALTER TABLE plants OWNER TO $ROLE, FORCE ROW LEVEL SECURITY'],
  ['a role that sets row_security to off', 'ALTER ROLE $ROLE SET row_security = off'],
])('readPlants refuses row security with %s, and states the way out', async (_, statement) => {
  const { direct, user, url, run } = await newSecured('SELECT', secured, statement);
  await expectRefused(url, user);
  expect(await readAll(direct)).toEqual(whole);
  await run('ALTER ROLE $ROLE BYPASSRLS');
  expect(await readAll(url)).toEqual(whole);
});

const select = 'SELECT * FROM public.plants';
it.each([
  [`CREATE VIEW v.plants WITH (security_invoker) AS ${select}`],
  [`CREATE VIEW v.plants AS ${select}`, 'ALTER VIEW v.plants OWNER TO $ROLE'],
  [
    `CREATE FUNCTION v.f() RETURNS SETOF public.plants LANGUAGE sql AS '${select}'`,
    'CREATE VIEW v.plants AS SELECT * FROM v.f()',
  ],
])('readPlants refuses row security below a view: %s', async (...statements) => {
  const { user, url, run } = await newSecured(
    'SELECT',
    'CREATE SCHEMA v',
    ...statements,
    'GRANT USAGE ON SCHEMA v TO $ROLE',
    'GRANT SELECT ON v.plants TO $ROLE',
  );
  const view = `${url}?options=-csearch_path%3Dv`;
  expect(await readAll(view)).toEqual(whole);
  await run(secured, part);
  await expectRefused(view, user);
});

it('a plant that a policy refuses or hides is plant-refused, and without a policy every plant is store-unavailable', async () => {
  const { url, run } = await newSecured(
    'SELECT, INSERT',
    secured,
    "CREATE POLICY made ON plants FOR INSERT WITH CHECK (name <> 'weed')",
    'CREATE POLICY part ON plants FOR SELECT USING (id <> 2)',
  );
  const repository = await open(url);
  expect((await repository.check()).isOk()).toBe(true);
  const plants = ['b', 'weed', 'ivy'].map((name, n) => ({ id: BigInt(n + 2), name }));
  const refused = 'plant-refused';
  expect(await outcomesOf(repository, plants)).toEqual([refused, refused, 'ok']);
  // No policy permits reading: that is a fault of the table, not of the plant.
  await run('DROP POLICY part ON plants');
  const fig = { id: 7n, name: 'fig' };
  for (const failed of [await repository.create(fig), await repository.check()])
    expect(failed._unsafeUnwrapErr()).toMatchObject({
      kind: 'store-unavailable',
      reason: expect.stringContaining('no policy lets it read and insert') as unknown,
    });
  const { kind, message } = await failToOpen(url);
  expect([kind, message]).toEqual(['table-denied', expect.stringMatching(/BYPASSRLS;/)]);
  await run('CREATE POLICY ours ON plants TO $ROLE USING (true)');
  expect(await outcomesOf(repository, [fig])).toEqual(['ok']);
  await openAndClose(url);
});

it('readPlants states what PostgreSQL says when a privilege is missing', async () => {
  const { url } = await newSecured('INSERT');
  expect((await readAll(url)).error).toMatchObject({
    kind: 'table-denied',
    message: expect.stringContaining('permission denied for table plants') as unknown,
  });
});
