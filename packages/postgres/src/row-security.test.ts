import { describe, expect, it } from 'vitest';
import { failToOpen, newRole, open, openAndClose } from '../test/open.ts';
import { newDatabase, runSql, sharedUrl } from '../test/shared-postgres.ts';
import { readPlantBatches, readPlants } from './read/read-plants.ts';

/** Creates a database whose table has row security, and returns its URLs for the owner and for a role. */
const newSecured = async (grants: string, ...statements: readonly string[]) => {
  const database = await newDatabase();
  const direct = sharedUrl(database);
  const role = await newRole(database);
  await openAndClose(direct);
  await runSql(direct, `GRANT ${grants} ON plants TO ${role.user}`, ...statements);
  return { database, direct, role, url: sharedUrl(database, role) };
};

const secured = 'ALTER TABLE plants ENABLE ROW LEVEL SECURITY';

const readAll = async (url: string) => {
  const ids: bigint[] = [];
  for await (const read of readPlants({ url })) {
    if (read.isErr()) return { ids, error: read.error };
    ids.push(read.value.id);
  }
  return { ids, error: undefined };
};

describe('row security', () => {
  it.each([
    ['with a policy that hides a plant', 'CREATE POLICY part ON plants FOR SELECT USING (id = 1)'],
    ['without a policy', 'SELECT 1'],
    ['with a policy that hides no plant', 'CREATE POLICY whole ON plants USING (true)'],
    [
      'that enforces it for its owner',
      'ALTER TABLE plants OWNER TO ROLE, FORCE ROW LEVEL SECURITY',
    ],
    ['for a role that sets row_security to off', 'ALTER ROLE ROLE SET row_security = off'],
  ])('readPlants refuses a table %s, and its message has the way out', async (_, policy) => {
    const { direct, role, url } = await newSecured('SELECT', secured);
    await runSql(direct, policy.replace(/ROLE(?= SET|,)/, role.user));
    await runSql(direct, "INSERT INTO plants VALUES (1, 'a', NULL), (2, 'b', NULL)");
    const { ids, error } = await readAll(url);
    expect(ids).toEqual([]);
    expect(error).toMatchObject({
      kind: 'table-denied',
      message: expect.stringContaining(`ALTER ROLE "${role.user}" BYPASSRLS;`) as unknown,
    });
    expect((await readAll(direct)).ids).toEqual([1n, 2n]);
    await runSql(direct, `ALTER ROLE "${role.user}" BYPASSRLS`);
    expect(await readAll(url)).toEqual({ ids: [1n, 2n], error: undefined });
  });

  it('readPlantBatches yields an error when row security is enabled while it reads', async () => {
    const { direct, url } = await newSecured('SELECT');
    await runSql(direct, "INSERT INTO plants SELECT g, 'n' FROM generate_series(1, 1500) g");
    const kinds: string[] = [];
    for await (const read of readPlantBatches({ url })) {
      kinds.push(read.isOk() ? 'plants' : read.error.kind);
      await runSql(direct, secured);
    }
    expect(kinds).toEqual(['plants', 'table-denied']);
  });

  it('a repository opens with a warning, and a plant that a policy refuses is plant-refused', async () => {
    const { url } = await newSecured(
      'SELECT, INSERT',
      secured,
      "CREATE POLICY own ON plants USING (true) WITH CHECK (name <> 'weed')",
    );
    const repository = await open(url);
    expect(repository.warnings).toEqual([expect.stringContaining('row security')]);
    expect((await repository.check()).isOk()).toBe(true);
    const created = await Promise.all(
      ['weed', 'ivy', 'fig'].map(async (name, id) => repository.create({ id: BigInt(id), name })),
    );
    expect(created.map((one) => (one.isOk() ? 'ok' : one.error.kind))).toEqual([
      'plant-refused',
      'ok',
      'ok',
    ]);
  });

  it('a plant whose id is one of a plant that a policy hides is plant-refused', async () => {
    const { direct, url } = await newSecured(
      'SELECT, INSERT',
      secured,
      'CREATE POLICY all_new ON plants FOR INSERT WITH CHECK (true)',
      'CREATE POLICY part ON plants FOR SELECT USING (id > 1)',
    );
    const repository = await open(url);
    await runSql(direct, "INSERT INTO plants VALUES (1, 'a', NULL)");
    const refused = await repository.create({ id: 1n, name: 'a' });
    expect(refused._unsafeUnwrapErr().kind).toBe('plant-refused');
  });

  it('a start is refused while no policy permits a create', async () => {
    const { direct, role, url } = await newSecured('SELECT, INSERT', secured);
    expect(await failToOpen(url)).toMatchObject({
      kind: 'table-denied',
      message: expect.stringMatching(/row security without a policy.*BYPASSRLS;$/) as unknown,
    });
    await runSql(direct, `CREATE POLICY ours ON plants TO ${role.user} USING (true)`);
    await openAndClose(url);
  });

  it('a check fails while no policy permits a create, and creates are store-unavailable', async () => {
    const { direct, role, url } = await newSecured('SELECT, INSERT');
    const repository = await open(url);
    expect((await repository.check()).isOk()).toBe(true);
    await runSql(direct, secured);
    expect((await repository.check())._unsafeUnwrapErr().reason).toMatch(/row security/);
    const refused = await repository.create({ id: 1n, name: 'a' });
    expect(refused._unsafeUnwrapErr()).toMatchObject({
      kind: 'store-unavailable',
      reason: expect.stringContaining('row security') as unknown,
    });
    await runSql(direct, `CREATE POLICY ours ON plants TO ${role.user} USING (true)`);
    expect((await repository.check()).isOk()).toBe(true);
    expect((await repository.create({ id: 1n, name: 'a' })).isOk()).toBe(true);
  });
});

describe('a missing privilege', () => {
  it('readPlants names the missing privilege, and reads once it is granted', async () => {
    const database = await newDatabase();
    const role = await newRole(database);
    await openAndClose(sharedUrl(database));
    const { error } = await readAll(sharedUrl(database, role));
    expect(error?.kind).toBe('table-denied');
    expect(error?.message).not.toMatch(/password/);
    const grant = /run: (GRANT SELECT ON .* TO ".*";)/.exec(error?.message ?? '')?.[1] ?? '';
    await runSql(sharedUrl(database), grant);
    expect((await readAll(sharedUrl(database, role))).error).toBeUndefined();
  });

  it('a login without the CONNECT privilege names it', async () => {
    const database = await newDatabase();
    const role = await newRole(database);
    await openAndClose(sharedUrl(database));
    await runSql(
      sharedUrl(database),
      `GRANT SELECT ON plants TO ${role.user}`,
      `REVOKE CONNECT ON DATABASE ${database} FROM PUBLIC`,
    );
    const { error } = await readAll(sharedUrl(database, role));
    expect(error?.kind).toBe('access-denied');
    const grant = /run: (GRANT CONNECT ON .* TO ".*";)/.exec(error?.message ?? '')?.[1] ?? '';
    await runSql(sharedUrl(database), grant);
    expect((await readAll(sharedUrl(database, role))).error).toBeUndefined();
  });
});
