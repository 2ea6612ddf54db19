import type { Plant } from '@plantstore/core';
import type { Result } from 'neverthrow';
import type { PlantClient } from './create-client.ts';
import type { CreatePlantError } from './create-plant-error.ts';
import { isSignal, nextTurn, quietly, readMember } from './safely.ts';
import { listen } from './within.ts';

type NewPlant = Parameters<PlantClient['createPlant']>[0];

/** What {@link createPlants} may be told. */
export type CreatePlantsOptions = {
  /**
   * How many plants may have been taken from the source without their outcome having been taken, in
   * flight included. Default: 8, also for what is no whole number of at least 1.
   */
  readonly concurrency?: number | undefined;
  /** Ends the calls in flight as `aborted`, and then the iteration. Default: none. */
  readonly signal?: AbortSignal | undefined;
};

/** What became of one plant. */
export type PlantOutcome<Given> = {
  /** Its place in the source, from 0 on. */
  readonly index: number;
  /** The plant as the source gave it, whatever else that has. */
  readonly newPlant: Given;
  /** What its call answered. */
  readonly result: Result<Plant, CreatePlantError>;
};

type Call<Given> = Omit<PlantOutcome<Given>, 'result'> & {
  readonly result: Promise<PlantOutcome<Given>['result']>;
};

/** @inline */
type Source<Given> = Iterable<Given> | AsyncIterable<Given>;

/** How many plants may be read without letting timers and other work have their turn. */
const plantsPerTurn = 1000;

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0;

/** A source by the rules of a loop, whatever kind it is. */
async function* each<Given>(plants: Source<Given>): AsyncGenerator<Given, void, void> {
  yield* plants;
}

async function* createEach<Given extends NewPlant>(
  client: PlantClient,
  plants: Source<Given>,
  options: CreatePlantsOptions | undefined,
  stopping: AbortController,
): AsyncGenerator<PlantOutcome<Given>, void, void> {
  const given = readMember(options, 'concurrency');
  const concurrency = isCount(given) ? given : 8;
  const signal = options?.signal ?? undefined;
  const caller = isSignal(signal) ? signal : undefined;
  // What is no signal is for the client to refuse, plant by plant.
  const callOptions = { signal: signal === caller ? stopping.signal : signal };
  const isAborted = () => readMember(caller, 'aborted') === true;
  const isStopped = () => stopping.signal.aborted || isAborted();

  const source = each(plants);
  let state = 'idle' as 'idle' | 'reading' | 'paused' | 'over';
  let thrown: { readonly cause: unknown } | undefined;
  const calls: Call<Given>[] = [];
  let index = 0;
  let wake = (): void => undefined;

  const create = (newPlant: Given) => {
    // A client that throws is one that rejects; it is thrown where its outcome would be.
    const result = (async () => client.createPlant(newPlant, callOptions))();
    void quietly(() => result);
    calls.push({ index, newPlant, result });
    index += 1;
  };
  const fill = () => {
    if (state === 'idle' && !isStopped() && calls.length < concurrency) void read();
  };
  const read = async () => {
    state = 'reading';
    try {
      const next = await source.next();
      state = next.done === true ? 'over' : 'paused';
      if (next.done !== true && !isStopped()) create(next.value);
      if (state === 'paused' && index % plantsPerTurn === 0) await nextTurn();
    } catch (cause) {
      state = 'over';
      thrown = { cause };
    }
    if (state === 'paused') state = 'idle';
    wake();
    fill();
  };

  stopping.signal.addEventListener('abort', () => wake());
  const abort = () => stopping.abort(readMember(caller, 'reason'));
  const stopListening = listen(caller, abort);
  if (isAborted()) abort();
  try {
    for (;;) {
      fill();
      const [head] = calls;
      if (head !== undefined) {
        const result = await head.result;
        calls.shift();
        fill();
        yield { ...head, result };
      } else if (state === 'over' || isStopped()) break;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
    // A source that was aborted by the same signal may say so by throwing.
    if (thrown !== undefined && !isStopped()) throw thrown.cause;
  } finally {
    stopListening();
    stopping.abort();
    await Promise.allSettled(calls.map(({ result }) => result));
    const left = source.return();
    // A source that is still to answer a read may never do so; after an abort nothing may be in the way.
    await (state === 'reading' || isAborted() ? void quietly(() => left) : left);
  }
}

/**
 * Creates many plants, some at a time, and yields what became of each, in the source's order.
 * Memory is bounded over an endless source: of it, no more than `concurrency` plants are held. What a
 * call answers, errors included, is in its outcome and ends nothing.
 *
 * After an abort nothing more is read; each plant that was read still has its outcome, and then the
 * iteration ends without an error. A consumer that stops (`break`, `return()`) aborts the calls in
 * flight, waits for them to end, and finds out nothing more of them; creating those plants again is
 * safe. In both cases the source, once begun, is told to `return()`, as soon as it has answered what it was asked;
 * it is waited for only by who stops while it owes nothing. Where the source throws, the outcomes of
 * what it gave before come first, and then the iteration throws the same.
 *
 * @param plants Anything that can be iterated over, with or without `await`; what it gives may have
 * more members than a plant, such as a line number.
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
export const createPlants = <Given extends NewPlant>(
  client: PlantClient,
  plants: Source<Given>,
  options?: CreatePlantsOptions,
): AsyncGenerator<PlantOutcome<Given>, void, void> => {
  const stopping = new AbortController();
  const outcomes = createEach(client, plants, options, stopping);
  const end = outcomes.return.bind(outcomes);
  // A generator hears of it only once it has given the outcome that somebody waits for.
  outcomes.return = async (value) => {
    stopping.abort();
    return end(value);
  };
  return outcomes;
};
