import { describeRepository } from '@plantstore/core/repository-contract';
import { describe, expect, it } from 'vitest';
import { noDeadline } from '../test/open.ts';
import { newDatabase, sharedUrl } from '../test/shared-postgres.ts';
import { openPostgresRepository } from './open-postgres-repository.ts';

const open = async (url: string) =>
  (await openPostgresRepository({ url, ...noDeadline }))._unsafeUnwrap();

describeRepository({ describe, it, expect }, 'the PostgreSQL repository', async () => {
  const url = sharedUrl(await newDatabase());
  let repository = await open(url);
  const second = await open(url);
  return {
    repository,
    second,
    reopen: async () => {
      await repository.close();
      repository = await open(url);
      return repository;
    },
    dispose: async () => {
      await repository.close();
      await second.close();
    },
  };
});

it('a PostgreSQL repository reports each commit of a batch, and the number of waiting creates', async () => {
  const commits: number[] = [];
  const opened = await openPostgresRepository({
    ...noDeadline,
    url: sharedUrl(await newDatabase()),
    onCommit: ({ plants }) => void commits.push(plants),
  });
  const repository = opened._unsafeUnwrap();
  const creating = [1n, 2n, 3n].map(async (id) => repository.create({ id, name: 'Monstera' }));
  await new Promise(process.nextTick);
  expect(repository.waiting()).toBe(3);
  await Promise.all(creating);
  await repository.close();
  expect(repository.waiting()).toBe(0);
  expect(commits).toEqual([3]);
});

it('a PostgreSQL repository creates concurrent plants in call order, also after a conflict', async () => {
  const repository = await open(sharedUrl(await newDatabase()));
  const names = ['Monstera', 'Monstera', 'Ficus'];
  const results = await Promise.all(names.map(async (name) => repository.create({ id: 7n, name })));
  expect(results.map((result) => result.isOk())).toEqual([true, true, false]);
  await repository.close();
});
