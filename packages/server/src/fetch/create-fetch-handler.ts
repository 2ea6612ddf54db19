import { loggerOf } from '../http/logger.ts';
import { type OptionsOf, readOptions, type ServiceOptions, serviceRules } from '../http/options.ts';
import type { RequestHead } from '../http/request-head.ts';
import { RequestRecord } from '../http/request-record.ts';
import {
  errorResponse,
  type HeaderList,
  pairsOf,
  type ResponseData,
  tooManyInFlight,
} from '../http/responses.ts';
import { createService } from '../http/service.ts';
import { type FetchRequest, headOfRequest, signalOf } from './fetch-request.ts';
import { createInFlight } from './in-flight.ts';
import { readBody } from './read-body.ts';

/**
 * Creates the plant store as a function from a `Request` to a `Response`, for Hono, `Bun.serve`,
 * `Deno.serve`, workerd and the like. It checks in the same order and gives the same responses as
 * the `node:http` server. The server in front of it checks framing, repeated fields and the timeout
 * of a head. The body of a request that is not admitted is not read. If the runtime removes dot
 * segments from the URL of a `Request`, `/a/../plants` is `/plants` here, and another path for the
 * `node:http` server.
 *
 * Called with a URL, it is a `fetch` that opens no connection, which tests can inject into the
 * client. Only the path of the URL is used.
 *
 * It rejects only with the abort reason of the request's signal, as soon as that aborts, and as
 * `fetch` does for an invalid URL. The plant of an aborted request may have been stored. A request
 * without a signal, such as that of an adapter, is never aborted.
 *
 * @param options.repository Stores the plants. Required; `createMemoryRepository()` for tests.
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
 * const baseUrl = 'http://plants.test';
 * export const client = createClient({ baseUrl, token: 'test', fetch: handler });
 * ```
 */
export function createFetchHandler(options: FetchHandlerOptions): FetchHandler {
  const settings = readOptions(serviceRules, options);
  const source = { logger: loggerOf(settings.logger), clientAddressOf: () => undefined };
  const service = createService(settings);
  const { maxInFlight, requestTimeoutMs, handlerTimeoutMs } = settings;
  const enter = createInFlight(maxInFlight, requestTimeoutMs + handlerTimeoutMs);

  return async (input: FetchRequest | string | URL, init?: RequestInit) => {
    const request = typeof input !== 'string' && 'url' in input ? input : new Request(input, init);
    const signal = signalOf(request);
    // As fetch does, rejects with the abort reason even if it is not an Error.
    if (signal?.aborted === true) throw signal.reason as Error;
    const head = headOfRequest(request);
    const record = new RequestRecord(source, head);
    const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
    const onAbort = () => resolve(undefined);
    signal?.addEventListener('abort', onAbort);
    const response = await Promise.race([respond(request, head, record, aborted), aborted]);
    signal?.removeEventListener('abort', onAbort);
    if (response !== undefined) record.respond(response);
    record.end(response !== undefined);
    if (response === undefined) throw signal?.reason as Error;
    const more = [...service.headersFor(head.origin), 'X-Request-Id', record.id];
    return responseOf(request.method, response, more);
  };

  async function respond(
    request: FetchRequest,
    head: RequestHead,
    record: RequestRecord,
    aborted: Promise<undefined>,
  ): Promise<ResponseData> {
    try {
      const admission = await service.admit(head);
      record.tokenName = admission.tokenName;
      if (admission.response !== undefined) return admission.response;
      const leave = enter();
      if (leave === undefined) return tooManyInFlight;
      try {
        const body = await readBody(request, settings, aborted);
        return body.isOk() ? await service.respond(head, body.value) : body.error;
      } finally {
        leave();
      }
    } catch (cause) {
      return errorResponse('internal', { cause });
    }
  }
}

/**
 * The options of a fetch handler.
 *
 * @interface
 */
export type FetchHandlerOptions = ServiceOptions & OptionsOf<'requestTimeoutMs'>;

/**
 * The plant store as a function from a `Request` to a `Response`, and as a `fetch` that opens no
 * connection. A second argument beside a `Request` is ignored, because servers pass their own
 * values there.
 */
export type FetchHandler = {
  (request: FetchRequest): Promise<Response>;
  (url: string | URL, init?: RequestInit): Promise<Response>;
};

function responseOf(
  method: string,
  { status, headers, body }: ResponseData,
  more: HeaderList,
): Response {
  const hasBody = status !== 204 && method !== 'HEAD';
  const init = { status, headers: pairsOf([...headers, ...more]) };
  return new Response(hasBody ? body : null, init);
}
