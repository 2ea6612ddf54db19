import { createClient, type CreatePlantError } from '@plantstore/client';
import {
  createMemoryRepository,
  createPlant,
  type NewPlant,
  type Plant,
  type PlantRepository,
  type PlantStore,
} from '@plantstore/core';
import { errAsync, okAsync, ResultAsync } from 'neverthrow';

const plant: NewPlant = { id: 7n, name: 'Monstera', tag: undefined };
const store: PlantStore = createMemoryRepository();

const repository: PlantRepository = {
  create: (newPlant) =>
    newPlant.id < 0n
      ? errAsync({ kind: 'plant-refused', error: 4001, message: 'the id is negative' })
      : ResultAsync.combine([store.create(newPlant), okAsync(undefined)]).map(() => undefined),
};

const explain = (error: CreatePlantError): string => {
  switch (error.kind) {
    case 'refused':
      return error.name === 'plant-refused' ? `rule ${error.error}` : error.name;
    case 'unexpected-status':
    case 'response-invalid':
      return error.body;
    case 'network':
    case 'aborted':
      return error.cause.name;
    case 'timeout':
      return error.phase;
    case 'request-invalid':
      return error.reason;
    case 'token-failed':
      return error.message;
  }
};

const client = createClient({ baseUrl: 'http://127.0.0.1:9', token: 'any', retries: 0 });
export const sent: PromiseLike<string> = client
  .createPlant(plant)
  .match(({ name }) => name, explain);

const names = createPlant(repository, plant).map((created: Plant) => created.name);
void names.match(
  (name) => console.log(name),
  (error) => console.log(error.kind),
);
