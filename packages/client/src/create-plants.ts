import type { PlantClient } from './create-client.ts';
import type { CreatePlantsOptions, PlantOutcome } from './create-plants-options.ts';
import { ignoreErrors, isSignal, nextTurn, readMember } from './lenient.ts';
import type { NewPlant } from './plant.ts';
import { onAbort } from './within.ts';

/**
 * Creates many plants, some at a time, and yields each outcome as soon as there is one: a slow plant
 * delays no other. Sort by `index` for the order of the source. Memory is bounded over an endless
 * source: no more than `concurrency` plants are held. An error of a call is an outcome and ends nothing.
 *
 * After an abort nothing more is read; each plant that was read still has its outcome, and then the
 * iteration ends without an error. A consumer that stops (`break`, `return()`) aborts the calls in
 * flight, waits for them to end, and gets no outcome of them; creating those plants again is safe.
 * In both cases `return()` is called on the source, if it was begun, once it has returned the plant
 * that it was asked for; only a consumer that stops waits for that, and only if no such plant is
 * missing. If the source throws, the outcomes of the plants before come first, and then the iteration
 * throws the same.
 *
 * @param plants Any iterable or async iterable; its plants may have more members, such as a line number.
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
  plants: Iterable<Given> | AsyncIterable<Given>,
  options?: CreatePlantsOptions,
): AsyncGenerator<PlantOutcome<Given>, void, void> => {
  const asked = readMember(options, 'concurrency');
  const concurrency = Number.isSafeInteger(asked) && Number(asked) > 0 ? Number(asked) : 8;
  const signal = (readMember(options, 'signal') ?? undefined) as AbortSignal | undefined;
  const caller = isSignal(signal) ? signal : undefined;
  const isAborted = () => readMember(caller, 'aborted') === true;
  const stopping = new AbortController();
  const isStopped = () => stopping.signal.aborted || isAborted();
  // A value that is not a signal is for the client to refuse, plant by plant.
  const callOptions = { signal: signal === caller ? stopping.signal : signal };

  const settled: Promise<PlantOutcome<Given>>[] = [];
  let held = 0;
  let state = 'reading' as 'reading' | 'paused' | 'over';
  const isFull = () => held >= concurrency && !isStopped();
  const isDone = () => held === 0 && (state === 'over' || isStopped());
  const waiting: (() => void)[] = [];
  const change = async () => new Promise<void>((resolve) => void waiting.push(resolve));
  const announceChange = () => waiting.splice(0).forEach((resolve) => resolve());

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
        announceChange();
      });
      held += 1;
      index += 1;
      // Plants that are refused before sending would leave timers and other work no turn.
      if (index % 1000 === 0) await nextTurn();
      while (isFull()) await change();
      if (isStopped()) break;
      state = 'reading';
    }
  };

  const outcomes = (async function* yieldOutcomes() {
    const removeListener = onAbort(caller, () => stopping.abort(readMember(caller, 'reason')));
    stopping.signal.addEventListener('abort', announceChange);
    const reader = isStopped() ? undefined : read();
    void ignoreErrors(() => reader).then(() => {
      state = 'over';
      announceChange();
    });
    try {
      while (!isDone()) {
        const next = settled.shift();
        if (next) held -= 1;
        announceChange();
        // A client that rejects, as a stand-in may, is thrown where its outcome would be.
        if (next) yield await next;
        else await change();
      }
    } finally {
      // A source that is being read may never return a plant; one that an abort ends may throw for it.
      const isWaitedFor = state !== 'reading' && !isAborted();
      removeListener();
      stopping.abort();
      while (held > settled.length) await change();
      announceChange();
      if (isWaitedFor) await reader;
    }
  })();
  const end = outcomes.return.bind(outcomes);
  // A generator handles its return only after the outcome that a consumer waits for.
  outcomes.return = async (value) => {
    stopping.abort();
    return end(value);
  };
  return outcomes;
};
