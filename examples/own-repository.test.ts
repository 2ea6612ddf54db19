import type { PlantRepository } from '@plantstore/core';
import { describeRepository } from '@plantstore/core/repository-contract';
import { errAsync, okAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';

const createJsonRepository = (): PlantRepository => {
  const plants = new Map<bigint, string>();
  return {
    create({ id, name, tag }) {
      const plant = JSON.stringify({ name, tag });
      const kept = plants.get(id) ?? plant;
      plants.set(id, kept);
      return kept === plant ? okAsync() : errAsync({ kind: 'id-taken', id });
    },
  };
};

describeRepository({ describe, it, expect }, 'plants as JSON', async () => ({
  repository: createJsonRepository(),
}));
