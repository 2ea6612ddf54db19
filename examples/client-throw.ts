import type { CreatePlantError, NewPlant, Plant, PlantClient } from '@plantstore/client';

export class PlantNotCreated extends Error {
  override readonly name = 'PlantNotCreated';
  override readonly cause: CreatePlantError;

  constructor(cause: CreatePlantError) {
    super(cause.message);
    this.cause = cause;
  }
}

/** Returns the plant, or throws an error whose `cause` is the error of the call. */
export const createPlantOrThrow = async (client: PlantClient, plant: NewPlant): Promise<Plant> => {
  const created = await client.createPlant(plant);
  if (created.isErr()) throw new PlantNotCreated(created.error);
  return created.value;
};
