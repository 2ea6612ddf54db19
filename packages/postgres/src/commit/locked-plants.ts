import type { NewPlant } from '@plantstore/core';
import type { Created, GroupCommit } from '@plantstore/core/group-commit';

/** Plants whose ids other sessions have locked. */
export type LockedPlants = {
  /** Whether the id was locked at its most recent create. */
  readonly has: (id: bigint) => boolean;
  /** Creates a plant whose id is locked, or was recently. */
  readonly create: (plant: NewPlant) => Promise<Created>;
};

const maxIds = 10_000;

/**
 * Creates locked plants in a separate group, and stores their ids until they are unlocked. An id that is locked
 * for a long time therefore delays other plants only once, not at each retry.
 */
export const createLockedPlants = (group: GroupCommit): LockedPlants => {
  const ids = new Set<bigint>();
  return {
    has: (id) => ids.has(id),
    create: async (plant) => {
      // Removing an id delays one batch at most.
      if (ids.size >= maxIds) ids.clear();
      ids.add(plant.id);
      const created = await group.create(plant);
      if (created.isOk() || created.error.kind !== 'store-unavailable') ids.delete(plant.id);
      return created;
    },
  };
};
