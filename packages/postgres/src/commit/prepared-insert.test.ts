import { describe, expect, it } from 'vitest';
import {
  insertsIn,
  handleNext,
  monstera,
  openBehindProxy,
  plantsFrom,
} from '../../test/behind-proxy.ts';
import { expectStored } from '../../test/load.ts';
import type { PostgresProxy, StatementAction } from '../../test/postgres-proxy.ts';
import { runSql } from '../../test/shared-postgres.ts';
import { columnNames, declarationOf } from '../open/columns.ts';

const inserts = ({ statements }: PostgresProxy) =>
  statements.filter(({ text }) => text.startsWith('INSERT'));

describe('insert', () => {
  it('the insert is prepared once for each connection, independent of the batch size', async () => {
    const { proxy, repository } = await openBehindProxy();
    const before = proxy.connections();
    for (const [index, size] of [1, 2, 3, 64, 1_000].entries()) {
      const plants = plantsFrom(index * 1_000, size);
      const created = await Promise.all(plants.map(async (plant) => repository.create(plant)));
      expect(created.every((one) => one.isOk())).toBe(true);
    }
    expect(proxy.connections()).toBe(before);
    expect(inserts(proxy).map(({ isParsed }) => isParsed)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(inserts(proxy).every(({ name }) => name.startsWith('plantstore_'))).toBe(true);
  });

  it('the insert is prepared again on a new connection', async () => {
    const { proxy, repository } = await openBehindProxy();
    for (const plant of plantsFrom(0, 2)) {
      expect((await repository.create(plant)).isOk()).toBe(true);
      proxy.resetAll();
    }
    expect(inserts(proxy).every(({ name, isParsed }) => name !== '' && isParsed)).toBe(true);
  });

  it('the insert is the only prepared statement, and its plan does not depend on the size of the table', async () => {
    const { proxy, repository } = await openBehindProxy();
    await repository.create(monstera);
    await repository.create({ ...monstera, name: 'Ficus' });
    const others = proxy.statements.filter(({ text }) => !text.startsWith('INSERT'));
    expect(others.length).toBeGreaterThan(3);
    expect(others.every(({ name }) => name === '')).toBe(true);
  });

  it.each<[string, StatementAction]>([
    ['the name is unknown', { error: '26000' }],
    ['the name is in use', { error: '42P05' }],
    ['the columns of its result changed', { error: '0A000' }],
    ['a pooler refuses it', { error: '08P01' }],
    ['a pooler refuses it with a custom code', { error: '58000' }],
    ['a pooler refuses it and ends the connection', { error: '08P01', severity: 'FATAL' }],
  ])('the insert is unprepared on every connection after an error: %s', async (_, action) => {
    const { proxy, repository, direct } = await openBehindProxy();
    const plants = plantsFrom(0, 4);
    const create = async (index: number) => repository.create(plants[index]!);
    expect((await create(0)).isOk()).toBe(true);
    handleNext(proxy, /^INSERT/, action);
    expect((await create(1)).isOk()).toBe(true);
    const failed = insertsIn(proxy);
    expect((await create(2)).isOk()).toBe(true);
    proxy.resetAll();
    expect((await create(3)).isOk()).toBe(true);
    expect(inserts(proxy)[failed - 2]?.name).not.toBe('');
    const later = inserts(proxy).slice(failed - 1);
    expect(later.length).toBeGreaterThan(2);
    expect(later.every(({ name }) => name === '')).toBe(true);
    await expectStored(direct, plants);
  });

  it('the insert succeeds when the server deallocates it after each batch', async () => {
    const { repository, direct } = await openBehindProxy();
    await runSql(
      direct,
      `CREATE FUNCTION deallocate_all() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        EXECUTE 'DEALLOCATE ALL'; RETURN NULL; END $$`,
      `CREATE TRIGGER deallocate_all AFTER INSERT ON plants FOR EACH STATEMENT EXECUTE FUNCTION deallocate_all()`,
    );
    const plants = plantsFrom(0, 5);
    for (const plant of plants) expect((await repository.create(plant)).isOk()).toBe(true);
    await expectStored(direct, plants);
  });

  it.each([
    'ALTER TABLE plants ALTER tag TYPE varchar, ALTER name TYPE varchar',
    'ALTER TABLE plants ADD planted timestamptz DEFAULT now()',
    `DROP TABLE plants; CREATE TABLE plants (${columnNames.map(declarationOf).toReversed().join(', ')})`,
  ])('the insert succeeds after %s', async (change) => {
    const { repository, direct } = await openBehindProxy();
    expect((await repository.create(monstera)).isOk()).toBe(true);
    await runSql(direct, ...change.split('; '));
    const plants = plantsFrom(10, 3);
    for (const plant of plants) expect((await repository.create(plant)).isOk()).toBe(true);
    await expectStored(direct, plants);
    const taken = await repository.create({ ...plants[0]!, name: 'other' });
    expect(taken._unsafeUnwrapErr().kind).toBe('id-taken');
  });
});
