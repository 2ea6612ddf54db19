import {
  assertNewPlant,
  type IdTaken,
  type NewPlant,
  type PlantRepository,
} from '@plantstore/core';
import { describeRepository } from '@plantstore/core/repository-contract';
import { encodePlant } from '@plantstore/core/wire';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';

const createJsonRepository = (plants: Map<bigint, string>): PlantRepository => {
  const create = async (plant: NewPlant): Promise<Result<void, IdTaken>> => {
    assertNewPlant(plant);
    const { id } = plant;
    const json = encodePlant(plant);
    const kept = plants.get(id) ?? json;
    plants.set(id, kept);
    return kept === json ? ok() : err({ kind: 'id-taken', id });
  };
  return { create: (plant) => new ResultAsync(create(plant)) };
};

describeRepository({ describe, it, expect }, 'plants as JSON', async () => {
  const plants = new Map<bigint, string>();
  return { repository: createJsonRepository(plants), second: createJsonRepository(plants) };
});
