import { type Answer, errorAnswer, type Fields } from './http/answer.ts';
import { createBodyBuffer } from './http/body-buffer.ts';
import { readHead, type RequestHead } from './http/request-head.ts';
import { requestIdOf } from './http/request-id.ts';
import { createService, type Service } from './http/service.ts';
import { limitsOf } from './limits.ts';
import type { ServiceOptions } from './service-options.ts';

/** The part of `fetch` that a client of a plant store needs; it fits wherever a `fetch` is injected. */
export type InProcessFetch = (
  input: string | URL | Request,
  init?: RequestInit,
) => Promise<Response>;

/** The body of a request, or `undefined` as soon as it is longer than it may be. */
const readAtMost = async (request: Request, longest: number): Promise<Uint8Array | undefined> => {
  const body = createBodyBuffer(longest);
  // Leaving the loop cancels what has not been read.
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    if (!body.add(chunk)) return undefined;
  }
  return body.bytes();
};

const headOf = ({ method, url, headers }: Request): RequestHead => {
  const { host, pathname, search } = new URL(url);
  return readHead(method, pathname + search, '1.1', ['Host', host, ...[...headers].flat()]);
};

const answerTo = async (service: Service, request: Request, head: RequestHead): Promise<Answer> => {
  const admission = await service.admit(head);
  if (admission.kind === 'answered') return admission.answer;
  const body = await readAtMost(request, service.maxBodyBytes);
  request.signal.throwIfAborted();
  return body === undefined ? errorAnswer('body-too-large') : service.create(body);
};

const responseOf = (method: string, { status, fields, body }: Answer, more: Fields): Response => {
  const headers = new Headers();
  const all = [...fields, ...more];
  for (let index = 0; index < all.length; index += 2) {
    headers.append(all[index] ?? '', all[index + 1] ?? '');
  }
  return new Response(status === 204 || method === 'HEAD' ? null : body, { status, headers });
};

/** What a promise gives, unless a request's own signal aborts before; then its reason is thrown. */
const unlessAborted = async <T>(signal: AbortSignal, promise: Promise<T>): Promise<T> => {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  // A reason may be anything, and fetch rejects with it as it is.
  signal.addEventListener('abort', () => reject(signal.reason as Error));
  return Promise.race([promise, aborted]);
};

/**
 * The plant store as a `fetch` that opens no connection: what an app's tests inject into the client.
 * It checks in the same order and answers the same as the server, with the same header fields. What
 * belongs to connections is left out: framing, the time for a request to arrive, `maxInFlight`, the
 * log. Hosts and ports of URLs do not matter, their path does. An abort rejects at once with the signal's reason; as with a server,
 * a plant that was sent by then may be stored.
 *
 * @param options.repository Where plants are kept. Required; `createMemoryRepository()` for tests.
 * @param options.authenticate Decides which tokens are accepted. Required.
 * @param options.maxBodyBytes The largest body, in bytes. Default is 1048576 (1 MiB).
 * @throws TypeError for a wrong option
 * @example
 * ```ts
 * import { createClient } from '@plantstore/client';
 * import { createMemoryRepository } from '@plantstore/core';
 * import { createFetch } from '@plantstore/server';
 *
 * const fetch = createFetch({
 *   repository: createMemoryRepository(),
 *   authenticate: (token) => token === 'test',
 * });
 * export const client = createClient({ baseUrl: 'http://plants.test', token: 'test', fetch });
 * ```
 */
export const createFetch = (options: ServiceOptions): InProcessFetch => {
  const service = createService(options, limitsOf(options));
  return async (input, init) => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    const head = headOf(request);
    const answer = await unlessAborted(request.signal, answerTo(service, request, head));
    // `authenticate` may abort before the signal is listened to.
    request.signal.throwIfAborted();
    const requestId = requestIdOf(head.requestId);
    const fields = [...service.fieldsFor(head.origin), 'X-Request-Id', requestId];
    return responseOf(request.method, answer, fields);
  };
};
