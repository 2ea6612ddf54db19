import type { Plant as CorePlant } from '@plantstore/core';
import type { ErrorName as CoreErrorName } from '@plantstore/core/errors';
import type { encodeNewPlant } from '@plantstore/core/wire';
import type { ResultAsync } from 'neverthrow';
import { describe, expectTypeOf, it } from 'vitest';
import {
  type CauseDescription,
  type ClientOptions,
  createClient,
  type CreatePlantError,
  type CreatePlantOptions,
  type ErrorName,
  type FetchInit,
  type NewPlant,
  type Plant,
  type PlantClient,
  type Retry,
  type TokenRequest,
} from './index.ts';

type Flat<Of> = { [Member in keyof Of]: Of[Member] };

declare const client: PlantClient;
declare const maybe: string | undefined;

const sentence = (error: CreatePlantError): string => {
  switch (error.kind) {
    case 'refused':
      expectTypeOf(error.name).toEqualTypeOf<ErrorName | 'plant-refused' | 'unknown'>();
      expectTypeOf(error.error).toEqualTypeOf<number>();
      return `${error.status}`;
    case 'request-invalid':
      return error.reason;
    case 'token-failed':
      return error.message;
    case 'unexpected-status':
    case 'response-invalid':
      return `${error.status} ${error.body}`;
    case 'network':
    case 'aborted':
      expectTypeOf(error.cause).toEqualTypeOf<CauseDescription>();
      expectTypeOf(error).toHaveProperty('status').toEqualTypeOf<number | undefined>();
      return error.cause.message;
    case 'timeout':
      return error.phase;
    default:
      expectTypeOf(error).toBeNever();
      return error satisfies never;
  }
};

describe('the types of the client', () => {
  it('createClient accepts options and returns a client', () => {
    expectTypeOf(createClient).parameters.toEqualTypeOf<[options: ClientOptions]>();
    expectTypeOf(createClient).returns.toEqualTypeOf<PlantClient>();
  });

  it('createPlant returns a ResultAsync of a plant', () => {
    expectTypeOf<ReturnType<PlantClient['createPlant']>>().toEqualTypeOf<
      ResultAsync<Plant, CreatePlantError>
    >();
  });

  it('createClient accepts valid options and rejects invalid ones in its types', () => {
    createClient({ baseUrl: '', token: '', fetch: globalThis.fetch, attemptTimeoutMs: 1 });
    createClient({ baseUrl: '', token: '', fetch: undefined, attemptTimeoutMs: undefined });
    createClient({ baseUrl: '', token: '', fetch: async (url: string) => new Response(url) });
    // @ts-expect-error -- the token is required
    createClient({ baseUrl: '' });
    // @ts-expect-error -- the base URL is required
    createClient({ token: '' });
    createClient({ baseUrl: '', token: () => 'a', timeoutMs: 1, retries: 0, retryDelayMs: 1 });
    createClient({ baseUrl: '', token: async ({ refresh }) => `${refresh}`, maxRetryDelayMs: 1 });
    createClient({ baseUrl: '', token: '', onRetry: async () => {} });
    // @ts-expect-error -- a token is a string
    createClient({ baseUrl: '', token: async () => 7 });
    expectTypeOf<TokenRequest>().toEqualTypeOf<{ readonly refresh: boolean }>();
    expectTypeOf<Retry>().toEqualTypeOf<{
      readonly attempts: number;
      readonly waitMs: number;
      readonly error: CreatePlantError;
    }>();
    const delays = { retryDelayMs: 1, maxRetryDelayMs: 1 };
    const limits = { attemptTimeoutMs: 1, timeoutMs: 1, retries: 0, ...delays };
    expectTypeOf(limits).toExtend<CreatePlantOptions>();
    expectTypeOf<NonNullable<CreatePlantOptions['onSettled']>>().parameters.toEqualTypeOf<
      [
        report: {
          readonly attempts: number;
          readonly status?: number;
          readonly requestId?: string;
          readonly retryAfterMs?: number;
        },
      ]
    >();
  });

  it('the type of headers is an object or a function, for a client and for a call', () => {
    const headers = { traceparent: '00-1-2-03' };
    createClient({ baseUrl: '', token: '', headers });
    createClient({ baseUrl: '', token: '', headers: () => headers });
    void client.createPlant({ id: 7, name: 'a' }, { headers: async () => headers });
    createClient({ baseUrl: '', token: '', headers: new Headers() });
    createClient({ baseUrl: '', token: '', headers: () => new Headers(headers) });
    void client.createPlant({ id: 7, name: 'a' }, { headers: async () => new Headers() });
    // @ts-expect-error -- a value is a string
    createClient({ baseUrl: '', token: '', headers: { age: 7 } });
  });

  it('the type of fetch requires only the members in use', () => {
    createClient({ baseUrl: '', token: '', fetch: async (url, init) => fetch(url, init) });
    createClient({
      baseUrl: '',
      token: '',
      fetch: async () => ({
        status: 200,
        headers: { get: () => null },
        body: null,
        arrayBuffer: async () => new ArrayBuffer(0),
      }),
    });
    expectTypeOf<FetchInit>().toExtend<RequestInit>();
    // @ts-expect-error -- a response has a status
    createClient({ baseUrl: '', token: '', fetch: async () => ({ ok: true }) });
  });

  it('the types of plants and errors equal those of core', () => {
    expectTypeOf<Plant>().toEqualTypeOf<CorePlant>();
    expectTypeOf<NewPlant>().toEqualTypeOf<Flat<Parameters<typeof encodeNewPlant>[0]>>();
    expectTypeOf<ErrorName>().toEqualTypeOf<CoreErrorName>();
  });

  it('createPlant accepts valid plants and rejects invalid ones in its types', () => {
    void client.createPlant({ id: 7n, name: 'a' });
    void client.createPlant({ id: 7, name: 'a', tag: maybe }, {});
    void client.createPlant({ id: 7, name: 'a', tag: undefined }, { signal: undefined });
    // @ts-expect-error -- an id is not a string
    void client.createPlant({ id: '7', name: 'a' });
    // @ts-expect-error -- a name is required
    void client.createPlant({ id: 7 });
    // @ts-expect-error -- null is not absent
    void client.createPlant({ id: 7, name: 'a', tag: null });
  });

  it('every client error has the members of a report', () => {
    const { attempts, status, requestId, retryAfterMs } = {} as CreatePlantError;
    expectTypeOf({ attempts, status, requestId, retryAfterMs }).toEqualTypeOf<{
      attempts: number;
      status: number | undefined;
      requestId: string | undefined;
      retryAfterMs: number | undefined;
    }>();
  });

  it('the type of a client error can be switched on exhaustively', () => {
    expectTypeOf(sentence).returns.toEqualTypeOf<string>();
    expectTypeOf<CreatePlantError['attempts']>().toEqualTypeOf<number>();
    expectTypeOf<CreatePlantError['message']>().toEqualTypeOf<string>();
  });
});
