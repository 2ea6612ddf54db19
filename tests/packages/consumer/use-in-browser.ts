import { createClient, type CreatePlantError } from '@plantstore/client';

const client = createClient({ baseUrl: 'https://plants.example', token: 'let-me-in' });

/** Creates a plant and returns its name, or the kind of the error. */
export const submit = async (name: string, signal: AbortSignal): Promise<string> => {
  const created = await client.createPlant({ id: 7, name }, { signal });
  return created.match(
    (plant) => plant.name,
    (error: CreatePlantError) => error.kind,
  );
};
