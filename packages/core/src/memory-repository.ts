import { err, errAsync, ok, okAsync, type Result, ResultAsync } from 'neverthrow';
import { assertNewPlant } from './assert-new-plant.ts';
import { copyPlant, differingMember } from './plant-members.ts';
import type { NewPlant } from './plant.ts';
import type { IdTaken, StoreUnavailable } from './plant-repository.ts';
import type { PlantStore } from './plant-store.ts';

/**
 * Creates a repository that stores plants in the memory of this process, for tests, demos and
 * browsers. Its plants are lost when the process ends. It returns `store-unavailable` only after
 * `close`.
 *
 * @example
 * ```ts
 * import { createMemoryRepository } from '@plantstore/core';
 *
 * const repository = createMemoryRepository();
 * await repository.create({ id: 7n, name: 'Monstera' });
 * ```
 */
export function createMemoryRepository(): PlantStore {
  const plants = new Map<bigint, NewPlant>();
  let isClosed = false;
  // Async, so that a plant that was not validated rejects. Without an await, so that it is atomic.
  const create = async (given: NewPlant): Promise<Result<void, IdTaken | StoreUnavailable>> => {
    const plant = copyPlant(given);
    assertNewPlant(plant);
    if (isClosed) return err(closed);
    const { id } = plant;
    const kept = plants.get(id);
    if (kept === undefined) plants.set(id, plant);
    else if (differingMember(kept, plant) !== undefined) return err({ kind: 'id-taken', id });
    return ok();
  };
  return {
    create: (plant) => new ResultAsync(create(plant)),
    check: () => (isClosed ? errAsync(closed) : okAsync()),
    waiting: () => 0,
    close: async () => {
      isClosed = true;
    },
  };
}

const closed: StoreUnavailable = {
  kind: 'store-unavailable',
  reason: 'the repository is closed',
};
