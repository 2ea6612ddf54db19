import type { RequestListener } from 'node:http';
import {
  type ClientOptions,
  createClient,
  type CreatePlantError,
  type PlantClient,
} from '../src/index.ts';

export const token = 'mF_9.B5f-4.1JqM~top+secret/0==';
export const plant = { id: 9007199254740993n, name: 'Monstera', tag: 'climber' };
/** Every fetch refuses this port, so that no test reaches it by mistake. */
export const baseUrl = 'http://127.0.0.1:9';

type InjectedFetch = NonNullable<ClientOptions['fetch']>;

/** A client whose fetch is given, for what no real server can do; it repeats nothing unless told to. */
export const clientWith = (fetch: InjectedFetch, options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl, token, fetch, retries: 0, ...options });

/** What values of a type that TypeScript would not let through look like to untyped code. */
export const untyped = (value: unknown): never => value as never;

/** A listener that answers every request alike. */
export const answering =
  (status: number, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, headers).end(body);
  };

const hostileTo = (traps: PropertyKey[]): object =>
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

/** A value that throws whatever is done with it. */
export const hostile = hostileTo(everything);

/** The same for fast-check, which itself asks every value whether it has a member. */
export const hostileAfterHas = hostileTo(everything.filter((trap) => trap !== 'has'));

/** Throws anything at all. */
export const throwing = (thrown: unknown) => (): never => {
  AbortSignal.abort(thrown).throwIfAborted();
  return untyped(undefined);
};

/** Rejects with anything at all. */
export const rejecting = (thrown: unknown) => async () => throwing(thrown)();

/** The error of a call that should fail. */
export const errorOf = async (client: PlantClient, signal?: AbortSignal) =>
  client.createPlant(plant, { signal }).match<CreatePlantError | undefined>(
    () => undefined,
    (error) => error,
  );

/** The timers that keep the process alive. */
export const timers = () =>
  process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

/** Whether something settles before a timer of 50 ms: a busy machine is late with both. */
export const isPrompt = async (settling: PromiseLike<unknown>): Promise<boolean> => {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
  }, 50);
  await settling;
  clearTimeout(timer);
  return !isLate;
};

export const never = () => new Promise<Response>(() => {});

/** A body that never ends, and a promise of its being cancelled. */
export const abandonable = () => {
  const { promise: cancelled, resolve: cancel } = Promise.withResolvers<unknown>();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({ cancel });
  return { body, cancelled };
};
