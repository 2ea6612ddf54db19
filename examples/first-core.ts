import { createMemoryRepository, createPlant } from '@plantstore/core';

const created = await createPlant(createMemoryRepository(), { id: 7, name: 'Monstera' });
// The kind is 'plant-invalid', 'id-taken', 'plant-refused' or 'store-unavailable'.
console.log(created.isOk() ? `created ${created.value.name}` : `refused: ${created.error.kind}`);
