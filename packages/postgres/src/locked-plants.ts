import type { NewPlant } from '@plantstore/core';
import type { Created, GroupCommit } from '@plantstore/core/group-commit';

/** Plants whose ids other sessions hold locked. */
export type LockedPlants = {
  /** Whether the id was locked when a plant was last created under it. */
  readonly has: (id: bigint) => boolean;
  /** Creates a plant whose id is locked, or was a moment ago. */
  readonly create: (plant: NewPlant) => Promise<Created>;
};

const maxIds = 10_000;

/**
 * Creates locked plants in a group of their own, and remembers their ids until they are free: so an
 * id that is locked for long delays the plants of other ids once, not at each repetition.
 */
export const createLockedPlants = (apart: GroupCommit): LockedPlants => {
  const ids = new Set<bigint>();
  return {
    has: (id) => ids.has(id),
    create: async (plant) => {
      // An id that is forgotten delays one batch.
      if (ids.size >= maxIds) ids.clear();
      ids.add(plant.id);
      const created = await apart.create(plant);
      if (created.isOk() || created.error.kind === 'id-taken') ids.delete(plant.id);
      return created;
    },
  };
};
