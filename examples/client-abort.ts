import type { PlantClient } from '@plantstore/client';

/** Submits a form; the button "Cancel" and leaving the page abort the call. */
export const submitPlant = async (client: PlantClient, name: string, cancelled: AbortSignal) => {
  const created = await client.createPlant({ id: 13n, name }, { signal: cancelled });
  if (created.isOk()) return `created ${created.value.name}`;
  // After an abort there is no one to show a message to.
  return created.error.kind === 'aborted' ? '' : created.error.message;
};
