import { type Answer, errorAnswer, type Fields } from './http/answer.ts';
import { readHead, type RequestHead } from './http/request-head.ts';
import { requestIdOf } from './http/request-id.ts';
import { infoOf, reportAnswer, reportEnd, reportStart } from './http/request-report.ts';
import { createService } from './http/service.ts';
import { type Limits, limitsOf } from './limits.ts';
import { type Logger, loggerOf } from './logger.ts';
import type { ServiceOptions } from './service-options.ts';
import { createSeparateTimeouts } from './timeouts.ts';
import { createInFlight } from './fetch/in-flight.ts';
import { readBody } from './fetch/read-body.ts';

/**
 * What a fetch handler is made of.
 *
 * @interface
 */
export type FetchHandlerOptions = ServiceOptions &
  Partial<Pick<Limits, 'maxInFlight' | 'requestTimeoutMs'>> & {
    /** Where requests are logged, one line each. Default is nowhere. */
    readonly logger?: Logger;
  };

/**
 * The plant store as a function from a `Request` to a `Response`, and as a `fetch` that opens no
 * connection. Beside a `Request` there is no second argument, because servers pass something of
 * their own there.
 */
export type FetchHandler = {
  (request: Request): Promise<Response>;
  (url: string | URL, init?: RequestInit): Promise<Response>;
};

const tooManyInFlight = 'as many requests are in flight as may be (maxInFlight)';

const headOf = ({ method, url, headers }: Request): RequestHead => {
  const { host, pathname, search } = new URL(url);
  const fields = [...headers].flat();
  // A request that no server has received has no Host field.
  if (!headers.has('Host')) fields.push('Host', host);
  return readHead(method, pathname + search, '1.1', fields);
};

const responseOf = (method: string, { status, fields, body }: Answer, more: Fields): Response => {
  const headers = new Headers();
  const all = [...fields, ...more];
  for (let index = 0; index < all.length; index += 2) {
    headers.append(all[index] ?? '', all[index + 1] ?? '');
  }
  return new Response(status === 204 || method === 'HEAD' ? null : body, { status, headers });
};

/** Calls a function, and resolves as it does, or to `undefined` once a signal aborts. */
const unlessAborted = async <T>(
  signal: AbortSignal,
  call: () => Promise<T>,
): Promise<T | undefined> => {
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
  const onAbort = () => resolve(undefined);
  signal.addEventListener('abort', onAbort);
  try {
    const result = await Promise.race([call(), aborted]);
    return signal.aborted ? undefined : result;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};

/**
 * Creates the plant store as a function from a `Request` to a `Response`, for Hono, `Bun.serve`,
 * `Deno.serve`, workerd and the like. It checks in the same order and answers the same as the
 * `node:http` server; framing, repeated fields and the time for a head to arrive are the server's
 * in front of it. The body of a request that is not admitted is not read.
 *
 * Called with a URL, it is a `fetch` that opens no connection, which an app's tests inject into the
 * client. Of a URL, only the path matters.
 *
 * It rejects only with the reason of the request's signal, at once when that aborts; a plant that
 * was sent by then may be stored.
 *
 * @param options.repository Where plants are kept. Required; `createMemoryRepository()` for tests.
 * @param options.authenticate Decides which tokens are accepted. Required.
 * @throws TypeError for a wrong option
 * @example
 * ```ts
 * import { createClient } from '@plantstore/client';
 * import { createMemoryRepository } from '@plantstore/core';
 * import { createFetchHandler } from '@plantstore/server/fetch';
 *
 * const handler = createFetchHandler({
 *   repository: createMemoryRepository(),
 *   authenticate: (token) => token === 'test',
 * });
 * export default { fetch: handler }; // a server on Bun, Deno and workerd
 * export const client = createClient({ baseUrl: 'http://plants.test', token: 'test', fetch: handler });
 * ```
 */
export const createFetchHandler = (options: FetchHandlerOptions): FetchHandler => {
  const logger = loggerOf(options.logger);
  const limits = limitsOf(options);
  const service = createService(options, limits, createSeparateTimeouts);
  const { maxInFlight, requestTimeoutMs, handlerTimeoutMs } = limits;
  const inFlight = createInFlight(maxInFlight, requestTimeoutMs + handlerTimeoutMs);

  const answerTo = async (
    request: Request,
    head: RequestHead,
    admitted: { tokenName: string | undefined },
  ): Promise<Answer> => {
    try {
      const admission = await service.admit(head);
      if (admission.kind === 'answered') return admission.answer;
      admitted.tokenName = admission.tokenName;
      const place = inFlight.enter();
      if (place === undefined) return errorAnswer('unavailable', { cause: tooManyInFlight });
      try {
        const body = await readBody(request, limits);
        return body instanceof Uint8Array ? await service.create(body) : body;
      } finally {
        inFlight.leave(place);
      }
    } catch (cause) {
      return errorAnswer('internal', { cause });
    }
  };

  return async (input: Request | string | URL, init?: RequestInit): Promise<Response> => {
    const isUrl = typeof input === 'string' || input instanceof URL;
    const request = isUrl ? new Request(input, init) : input;
    const { signal } = request;
    signal.throwIfAborted();
    const startedAt = performance.now();
    const head = headOf(request);
    const requestId = requestIdOf(head.requestId);
    const reported = { info: infoOf(head, undefined, requestId) };
    reportStart(reported);
    const admitted: { tokenName: string | undefined } = { tokenName: undefined };
    const answer = await unlessAborted(signal, async () => answerTo(request, head, admitted));
    if (answer?.error !== undefined) reportAnswer(reported, answer);
    const isWritten = answer !== undefined;
    reportEnd(logger, { request: reported, answer, startedAt, ...admitted, isWritten });
    // Not an error where the app aborts with something else; fetch rejects with it as it is.
    if (!isWritten) throw signal.reason as Error;
    const fields = [...service.fieldsFor(head.origin), 'X-Request-Id', requestId];
    return responseOf(request.method, answer, fields);
  };
};
