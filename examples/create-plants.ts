import type { NewPlant, PlantClient } from '@plantstore/client';
import { pMapIterable } from 'p-map';

/**
 * Creates plants, at most 8 at a time, and yields each outcome when its call ends. An abort and a
 * `break` end the source and the calls in flight.
 */
export async function* createPlants<Given extends NewPlant>(
  client: PlantClient,
  plants: Iterable<Given> | AsyncIterable<Given>,
  signal?: AbortSignal,
) {
  const stopping = new AbortController();
  const stop = () => stopping.abort(signal?.reason);
  signal?.addEventListener('abort', stop);
  if (signal?.aborted === true) stop();

  /** Reads plants until the abort. */
  async function* readPlants() {
    for await (const newPlant of plants) {
      if (stopping.signal.aborted) return;
      yield newPlant;
    }
  }

  const create = async (newPlant: Given, index: number) => {
    const result = await client.createPlant(newPlant, { signal: stopping.signal });
    return { index, newPlant, result };
  };

  try {
    yield* pMapIterable(readPlants(), create, { concurrency: 8, preserveOrder: false });
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
  }
}
