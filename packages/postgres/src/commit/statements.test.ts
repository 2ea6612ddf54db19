import { describe, expect, it } from 'vitest';
import { insertsIn, monstera, openBehindProxy } from '../../test/behind-proxy.ts';
import { runSql } from '../../test/shared-postgres.ts';

describe('statements', () => {
  it('statements are sent one per message, as a pooler in transaction mode requires', async () => {
    const { proxy, repository } = await openBehindProxy();
    await repository.create(monstera);
    await repository.create({ ...monstera, name: 'Ficus' });
    expect(proxy.statements.length).toBeGreaterThan(3);
    for (const { text } of proxy.statements) {
      expect(text).not.toMatch(/;|\bBEGIN\b|\bPREPARE\b|\bSET\b(?!.*ON CONFLICT)/);
    }
  });

  it('a statement contains at most 1,000 plants, sorted by id', async () => {
    const { repository, direct } = await openBehindProxy();
    await runSql(
      direct,
      'CREATE TABLE sizes (size int, sorted bool)',
      `CREATE FUNCTION record_size() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO sizes SELECT count(*), (SELECT array_agg(id) FROM new_plants)
          = (SELECT array_agg(id ORDER BY id) FROM new_plants) FROM new_plants;
        RETURN NULL; END $$`,
      `CREATE TRIGGER record_size AFTER INSERT ON plants REFERENCING NEW TABLE AS new_plants
        FOR EACH STATEMENT EXECUTE FUNCTION record_size()`,
    );
    const created = await Promise.all(
      Array.from({ length: 3_500 }, async (_, index) =>
        repository.create({ id: BigInt((index * 7_919) % 3_500) - 100n, name: 'x' }),
      ),
    );
    expect(created.every((one) => one.isOk())).toBe(true);
    const sizes = await runSql(direct, 'SELECT size, sorted FROM sizes ORDER BY size');
    expect(sizes.map(({ size }) => size)).toEqual([500, 1000, 1000, 1000]);
    expect(sizes.every(({ sorted }) => sorted)).toBe(true);
  });

  it('a statement contains at most 4 Mi code units of text, unless a single plant has more', async () => {
    const { proxy, repository } = await openBehindProxy();
    const created = await Promise.all(
      [2_200_000, 2_200_000, 4_400_000].map(async (length, index) =>
        repository.create({ id: BigInt(index), name: 'x'.repeat(length) }),
      ),
    );
    expect(created.every((one) => one.isOk())).toBe(true);
    // A statement whose response is late is sent again.
    expect(insertsIn(proxy)).toBeGreaterThanOrEqual(created.length);
  });
});
