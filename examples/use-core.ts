import { createMemoryRepository, createPlant, type CreatePlantError } from '@plantstore/core';
import { errorTable } from '@plantstore/core/errors';

const explain = (error: CreatePlantError): string => {
  switch (error.kind) {
    case 'plant-invalid':
      return error.faults.map((fault) => errorTable[fault].message).join('; ');
    case 'id-taken':
      return `another plant has the id ${error.id}`;
    case 'plant-refused':
      return error.message;
    case 'store-unavailable':
      return 'the store is unavailable, try again later';
  }
};

const repository = createMemoryRepository();

for (const input of [{ id: 7, name: 'Monstera' }, { id: 7, name: 'Ficus' }, { id: '8' }]) {
  const outcome = await createPlant(repository, input).match(
    (plant) => `created ${plant.name}`,
    (error) => `not created: ${explain(error)}`,
  );
  console.log(outcome);
}
