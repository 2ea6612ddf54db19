import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { describeRepository } from '@plantstore/core/repository-contract';
import { errAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';

/** Refuses plants with some tags, and passes all others to another repository. */
const withoutTags = (
  tags: ReadonlySet<string | undefined>,
  repository: PlantRepository,
): PlantRepository => ({
  create: (plant) =>
    tags.has(plant.tag)
      ? errAsync({ kind: 'plant-refused', error: 4001, message: `no plant may be a ${plant.tag}` })
      : repository.create(plant),
});

describeRepository({ describe, it, expect }, 'plants without weeds', async () => ({
  repository: withoutTags(new Set(['weed']), createMemoryRepository()),
  refused: { id: 7n, name: 'Bindweed', tag: 'weed' },
}));
