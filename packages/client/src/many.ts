import type { Result } from 'neverthrow';
import type { PlantClient } from './client.ts';
import type { CreatePlantError } from './errors.ts';
import type { NewPlant, Plant } from './plant.ts';
import { withTimeout } from './timeout.ts';
import { ignoreErrors, isSignal } from './untrusted.ts';

export const defaultConcurrency = 8;

/**
 * Creates many plants concurrently, and yields each outcome when its call ends, so that a slow plant does
 * not delay others. Sort by `index` for the order of the source. At most `concurrency` plants are in
 * memory, also for an endless source. An error of a call is an outcome and does not end the iteration.
 *
 * After an abort, no further plant is read. Each plant that was read still yields its outcome, and then
 * the iteration ends without an error. A consumer that stops (`break`, `return()`) aborts the calls in
 * flight and waits for them to end; their outcomes are lost, and creating those plants again is safe.
 *
 * In both cases `return()` is called on a source that was started, after its pending `next()` has settled.
 * Only a consumer that stops waits for `return()`, and only if no `next()` is pending. If the source
 * throws, the iteration yields the outcomes of the plants that were read and then throws the same error.
 *
 * @param plants Any iterable or async iterable. Its plants may have additional members, such as a line number.
 * @example
 * ```ts
 * import { createClient, createPlants } from '@plantstore/client';
 *
 * const client = createClient({ baseUrl: 'https://plants.example', token: 'mF_9.B5f-4.1JqM' });
 * const plants = [{ id: 1n, name: 'Monstera' }, { id: 2n, name: 'Ficus' }];
 * for await (const { index, result } of createPlants(client, plants, { concurrency: 4 })) {
 *   console.log(index + 1, result.isOk() ? 'created' : result.error.message);
 * }
 * ```
 */
export function createPlants<Given extends NewPlant>(
  client: PlantClient,
  plants: Iterable<Given> | AsyncIterable<Given>,
  options?: CreatePlantsOptions,
): AsyncGenerator<PlantOutcome<Given>, void, void> {
  const { concurrency: option = 0, signal } = options ?? {};
  const concurrency = Number.isSafeInteger(option) && option > 0 ? option : defaultConcurrency;
  const caller = isSignal(signal) ? signal : undefined;
  const isAborted = () => caller?.aborted === true;
  const stopping = new AbortController();
  const isStopped = () => stopping.signal.aborted || isAborted();
  // A value that is not a signal is passed on, because the client returns an error for it.
  const callOptions = { signal: caller || !signal ? stopping.signal : signal };

  const settled: Promise<PlantOutcome<Given>>[] = [];
  let unconsumed = 0;
  let state = 'reading' as 'reading' | 'paused' | 'ended';
  const isFull = () => unconsumed >= concurrency && !isStopped();
  const isDone = () => unconsumed === 0 && (state === 'ended' || isStopped());
  const waiting: (() => void)[] = [];
  const nextChange = async () => new Promise<void>((resolve) => void waiting.push(resolve));
  const notifyChange = () => waiting.splice(0).forEach((resolve) => resolve());

  const create = async (index: number, newPlant: Given) =>
    ({ index, newPlant, result: await client.createPlant(newPlant, callOptions) }) as const;

  const read = async () => {
    let index = 0;
    for await (const newPlant of plants) {
      state = 'paused';
      if (isStopped()) break;
      const outcome = create(index, newPlant);
      void ignoreErrors(() => outcome).then(() => {
        settled.push(outcome);
        notifyChange();
      });
      unconsumed += 1;
      index += 1;
      // Invalid plants settle without I/O and would otherwise block timers and other work.
      if (index % 1000 === 0) await withTimeout<void>(caller, 0);
      while (isFull()) await nextChange();
      if (isStopped()) break;
      state = 'reading';
    }
  };

  const outcomes = (async function* yieldOutcomes() {
    const stop = () => stopping.abort(caller?.reason);
    caller?.addEventListener('abort', stop);
    stopping.signal.addEventListener('abort', notifyChange);
    const reader = isStopped() ? undefined : read();
    void ignoreErrors(() => reader).then(() => {
      state = 'ended';
      notifyChange();
    });
    try {
      while (!isDone()) {
        const next = settled.shift();
        if (next) unconsumed -= 1;
        notifyChange();
        // If the client rejects, as a test double may, this throws in place of the outcome.
        if (next) yield await next;
        else await nextChange();
      }
    } finally {
      // A pending next() may never settle, and a source may throw because of the abort.
      const awaitsReader = state !== 'reading' && !isAborted();
      caller?.removeEventListener('abort', stop);
      stopping.abort();
      while (unconsumed > settled.length) await nextChange();
      if (awaitsReader) await reader;
    }
  })();
  const end = outcomes.return.bind(outcomes);
  // A generator handles return() only after a pending next(), so the calls are aborted here.
  outcomes.return = async (value) => {
    stopping.abort();
    return end(value);
  };
  return outcomes;
}

/** Options of `createPlants`. */
export type CreatePlantsOptions = {
  /**
   * Maximum number of plants that were read from the source and whose outcome was not consumed yet,
   * including those in flight. Default: 8, also for a value that is not a whole number of at least 1.
   */
  readonly concurrency?: number | undefined;
  /** Aborts the calls in flight, with the error `aborted`, and then ends the iteration. Default: none. */
  readonly signal?: AbortSignal | undefined;
};

/** The outcome of one plant. */
export type PlantOutcome<Given> = {
  /** Index of the plant in the source, from 0. */
  readonly index: number;
  /** The plant that the source yielded, including additional members. */
  readonly newPlant: Given;
  /** The result of its call. */
  readonly result: Result<Plant, CreatePlantError>;
};
