import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ClientOptions,
  createClient,
  type CreatePlantError,
  type PlantClient,
} from '../src/index.ts';

export const token = 'mF_9.B5f-4.1JqM~top+secret/0==';
export const plant = { id: 9007199254740993n, name: 'a' };
/** A port that fetch blocks, so that no test can reach it. */
export const baseUrl = 'http://127.0.0.1:9';

type InjectedFetch = NonNullable<ClientOptions['fetch']>;

/** Creates a client with an injected fetch and without retries, for responses that no server can send. */
export const createTestClient = (fetch: InjectedFetch, options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl, token, fetch, retries: 0, ...options });

/** Returns a value as a type that TypeScript accepts everywhere, as from untyped code. */
export const untyped = (value: unknown): never => value as never;

/** Returns a listener that sends the same response to every request. */
export const respondWith =
  (status: number, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, headers).end(body);
  };

const createHostile = (traps: PropertyKey[]): object =>
  new Proxy(
    () => undefined,
    Object.fromEntries(
      traps.map((trap) => [
        trap,
        () => {
          throw new Error('hostile');
        },
      ]),
    ),
  );

const everything = Reflect.ownKeys(Reflect);

/** A value for which every operation throws. */
export const hostile = createHostile(everything);

/** The same for fast-check, which uses the `in` operator on every value. */
export const hostileAfterHas = createHostile(everything.filter((trap) => trap !== 'has'));

/** Returns a function that throws any value. */
export const throwing = (thrown: unknown) => (): never => {
  AbortSignal.abort(thrown).throwIfAborted();
  return untyped(undefined);
};

/** Returns a function that rejects with any value. */
export const rejecting = (thrown: unknown) => async () => throwing(thrown)();

/** Returns the error of a call, or `undefined` if it succeeds. */
export const errorOf = async (client: PlantClient, signal?: AbortSignal) =>
  client.createPlant(plant, { signal }).match<CreatePlantError | undefined>(
    () => undefined,
    (error) => error,
  );

/** Returns the number of timers that keep the process alive. */
export const timers = () =>
  process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

/**
 * Returns whether a promise settles within about 50 ms. Counts turns of the event loop, which a busy machine delays
 * as much as the promise.
 */
export const isPrompt = async (settling: PromiseLike<unknown>): Promise<boolean> => {
  const state = { isSettled: false };
  const settle = () => {
    state.isSettled = true;
  };
  settling.then(settle, settle);
  for (let turn = 0; turn < 50 && !state.isSettled; turn += 1) await sleep(1);
  return state.isSettled;
};

/** Waits until all callbacks that are due have run. */
export const settle = async () => new Promise((resolve) => setTimeout(resolve, 0));

export const never = () => new Promise<Response>(() => {});

/** Returns a body that never ends, and a promise that resolves when the body is cancelled. */
export const unendingBody = () => {
  const { promise: cancelled, resolve: cancel } = Promise.withResolvers<unknown>();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({ cancel });
  return { body, cancelled };
};
