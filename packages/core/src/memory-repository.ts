import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { assertNewPlant } from './assert-new-plant.ts';
import type { NewPlant } from './plant.ts';
import type { IdTaken, PlantRepository } from './plant-repository.ts';

/**
 * Creates a repository that stores plants in the memory of this process, for tests, demos and browsers.
 * Its plants are lost when the process ends. It never returns `store-unavailable`.
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
  const plants = new Map<bigint, { readonly name: string; readonly tag: string | undefined }>();
  // Async, so that a plant that was not validated rejects. Without an await, so that it is atomic.
  const create = async (plant: NewPlant): Promise<Result<void, IdTaken>> => {
    assertNewPlant(plant);
    const { id, name, tag } = plant;
    const kept = plants.get(id);
    if (kept === undefined) {
      plants.set(id, { name, tag });
      return ok();
    }
    return kept.name === name && kept.tag === tag ? ok() : err({ kind: 'id-taken', id });
  };
  return { create: (plant) => new ResultAsync(create(plant)) };
};
