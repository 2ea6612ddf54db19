/**
 * `@plantstore/server/fetch`: the plant store as a function from a `Request` to a `Response`. It
 * imports no Node module, so that it runs on Node, Bun, Deno and workerd.
 *
 * @module
 */

export {
  createFetchHandler,
  type FetchHandler,
  type FetchHandlerOptions,
} from './fetch/create-fetch-handler.ts';
export type { FetchRequest, FetchSignal } from './fetch/fetch-request.ts';
