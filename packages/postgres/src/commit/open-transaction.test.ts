import { expect, it } from 'vitest';
import { monstera, openBehindProxy } from '../../test/behind-proxy.ts';
import type { StatementAction } from '../../test/postgres-proxy.ts';
import { runSql } from '../../test/shared-postgres.ts';

const isOfCreate = /^INSERT|plantstore/;

it('a create through a pooler that opens a transaction and does not commit it is store-unavailable, and the repository is not ready', async () => {
  const { proxy, direct, repository } = await openBehindProxy({ deadlineMs: 1_000 });
  proxy.onStatement(({ text }) => (isOfCreate.test(text) ? 'begin-before' : 'pass'));
  for (let count = 0; count < 2; count += 1)
    expect((await repository.create(monstera))._unsafeUnwrapErr()).toMatchObject({
      kind: 'store-unavailable',
      reason: expect.stringContaining('a pooler has opened a transaction') as unknown,
    });
  expect((await repository.check())._unsafeUnwrapErr().reason).toContain('a pooler has opened');
  // What is not committed is gone with its connection.
  proxy.resetAll();
  await expect.poll(async () => runSql(direct, 'SELECT id FROM plants')).toEqual([]);
  proxy.onStatement(() => 'pass');
  await expect.poll(async () => (await repository.create(monstera)).isOk()).toBe(true);
});

it('a statement that fails in a transaction that a pooler has opened is repeated on another connection', async () => {
  const { proxy, repository, direct } = await openBehindProxy();
  await runSql(direct, 'ALTER TABLE plants ADD CHECK (id < 100)');
  const actions: StatementAction[] = ['begin-before'];
  proxy.onStatement(({ text }) =>
    text.startsWith('INSERT') ? (actions.shift() ?? 'pass') : 'pass',
  );
  const created = await repository.create({ id: 100n, name: 'x' });
  expect(created._unsafeUnwrapErr().kind).toBe('plant-refused');
  expect((await repository.create(monstera)).isOk()).toBe(true);
  expect(await runSql(direct, 'SELECT id::int FROM plants')).toEqual([{ id: 7 }]);
});
