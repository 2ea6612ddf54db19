import { describeRepository } from '@plantstore/core/repository-contract';
import { describe, expect, it } from 'vitest';
import { newDatabase, sharedUrl } from '../test/shared-postgres.ts';
import { openPostgresRepository } from './open-postgres-repository.ts';

const open = async (url: string) => (await openPostgresRepository({ url }))._unsafeUnwrap();

describeRepository({ describe, it, expect }, 'the PostgreSQL repository', async () => {
  const url = sharedUrl(await newDatabase());
  let repository = await open(url);
  return {
    repository,
    reopen: async () => {
      await repository.close();
      repository = await open(url);
      return repository;
    },
    dispose: async () => repository.close(),
  };
});
