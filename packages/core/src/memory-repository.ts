import { errAsync, okAsync } from 'neverthrow';
import type { NewPlant } from './plant.ts';
import type { PlantRepository } from './plant-repository.ts';

/**
 * A repository that keeps plants in this process's memory and loses them with it: for tests, demos
 * and browsers. It never answers `store-unavailable`.
 *
 * @example
 * ```ts
 * import { createMemoryRepository } from '@plantstore/core';
 *
 * const repository = createMemoryRepository();
 * await repository.create({ id: 7n, name: 'Monstera' });
 * ```
 */
export const createMemoryRepository = (): PlantRepository => {
  const plants = new Map<bigint, Pick<NewPlant, 'name' | 'tag'>>();
  return {
    create({ id, name, tag }) {
      const kept = plants.get(id);
      if (kept === undefined) {
        plants.set(id, tag === undefined ? { name } : { name, tag });
        return okAsync();
      }
      return kept.name === name && kept.tag === tag
        ? okAsync()
        : errAsync({ kind: 'id-taken' as const, id });
    },
  };
};
