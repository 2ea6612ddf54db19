import { describe, expect, it } from 'vitest';
import { createMemoryRepository } from './memory-repository.ts';
import { describeRepository } from './repository-contract.ts';

describeRepository({ describe, it, expect }, 'the memory repository', async () => ({
  repository: createMemoryRepository(),
}));
