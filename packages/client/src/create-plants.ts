import type { Plant } from '@plantstore/core';
import type { Result } from 'neverthrow';
import type { PlantClient } from './create-client.ts';
import type { CreatePlantError } from './create-plant-error.ts';
import { readMember } from './safely.ts';

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
  result?: Result<Plant, CreatePlantError>;
};

/** @inline */
type Source<Given> = Iterable<Given> | AsyncIterable<Given>;

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0;

const iteratorOf = <Given>(plants: Source<Given>): Iterator<Given> | AsyncIterator<Given> =>
  Symbol.asyncIterator in plants ? plants[Symbol.asyncIterator]() : plants[Symbol.iterator]();

/** Tells a source that no more is wanted of it. */
const leave = async (
  iterator: Iterator<unknown> | AsyncIterator<unknown>,
  source: 'idle' | 'reading' | 'over',
): Promise<void> => {
  if (source === 'idle') await iterator.return?.();
  // A source that is still to answer a read may never do so, or fail after all is said.
  if (source === 'reading') void Promise.resolve(iterator.return?.()).catch(() => undefined);
};

/**
 * Creates many plants, some at a time, and yields what became of each, in the source's order.
 * Memory is bounded over an endless source: of it, no more than `concurrency` plants are held. What a
 * call answers, errors included, is in its outcome and ends nothing.
 *
 * After an abort nothing more is read; each plant that was read still has its outcome, and then the
 * iteration ends without an error. A consumer that stops (`break`, `return()`) aborts the calls in
 * flight, waits for them to end, and finds out nothing more of them; creating those plants again is
 * safe. In both cases the source is told to `return()`, and not waited for while it has yet to
 * answer a read. Where the source throws, the outcomes of what it gave before come first, and then the
 * iteration throws the same.
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
export async function* createPlants<Given extends NewPlant>(
  client: PlantClient,
  plants: Source<Given>,
  options?: CreatePlantsOptions,
): AsyncGenerator<PlantOutcome<Given>, void, void> {
  const given = readMember(options, 'concurrency');
  const concurrency = isCount(given) ? given : 8;
  const signal = options?.signal ?? undefined;
  const stopping = new AbortController();
  // What is no signal is for the client to refuse, plant by plant.
  const isSignal = typeof readMember(signal, 'addEventListener') === 'function';
  const callOptions = {
    signal: signal === undefined || isSignal ? stopping.signal : signal,
  };
  const isStopped = () => stopping.signal.aborted || signal?.aborted === true;

  const iterator = iteratorOf(plants);
  let source: 'idle' | 'reading' | 'over' = 'idle';
  let thrown: { readonly cause: unknown } | undefined;
  const calls: Call<Given>[] = [];
  const running = new Set<Promise<void>>();
  let index = 0;
  // One promise for all waits would keep what every wait leaves on it, over an endless source.
  let wake = (): void => undefined;

  const start = async (newPlant: Given) => {
    const call: Call<Given> = { index, newPlant };
    index += 1;
    calls.push(call);
    call.result = await client.createPlant(newPlant, callOptions);
    wake();
  };
  const track = async (newPlant: Given) => {
    const call = start(newPlant);
    running.add(call);
    await call;
    running.delete(call);
  };
  const fill = () => {
    if (source === 'idle' && !isStopped() && calls.length < concurrency) void read();
  };
  const read = async () => {
    source = 'reading';
    try {
      const next = await iterator.next();
      source = next.done === true ? 'over' : 'idle';
      if (next.done !== true && !isStopped()) void track(next.value);
    } catch (cause) {
      source = 'over';
      thrown = { cause };
    }
    wake();
    fill();
  };
  const isOver = () => source === 'over' || isStopped();
  const abort = () => {
    stopping.abort(signal?.reason);
    wake();
  };

  if (isSignal) signal?.addEventListener('abort', abort);
  if (signal?.aborted === true) abort();
  try {
    for (;;) {
      fill();
      const [head] = calls;
      if (head?.result !== undefined) {
        calls.shift();
        fill();
        yield { index: head.index, newPlant: head.newPlant, result: head.result };
      } else if (head === undefined && isOver()) break;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
    // A source that was aborted by the same signal may say so by throwing.
    if (thrown !== undefined && !isStopped()) throw thrown.cause;
  } finally {
    if (isSignal) signal?.removeEventListener('abort', abort);
    stopping.abort();
    await Promise.all(running);
    await leave(iterator, source);
  }
}
