import type { NewPlant } from '@plantstore/core';
import type { Created, GroupCommit } from '@plantstore/core/group-commit';

/**
 * Creates locked plants in a separate group, and stores their ids until they are unlocked. An id
 * that is locked for a long time therefore delays other plants only once, not at each retry.
 */
export function createLockedPlants(group: GroupCommit) {
  const ids = new Set<bigint>();
  return {
    /** Whether the id was locked at its most recent create. */
    has: (id: bigint): boolean => ids.has(id),
    /** Creates a plant whose id is locked, or was recently. */
    create: async (plant: NewPlant): Promise<Created> => {
      // Removing an id delays one batch at most.
      if (ids.size >= maxIds) ids.clear();
      ids.add(plant.id);
      const created = await group.create(plant);
      if (created.isOk() || created.error.kind !== 'store-unavailable') ids.delete(plant.id);
      return created;
    },
  };
}

const maxIds = 10_000;
