import { createMemoryRepository } from '@plantstore/core';
import { recordLog } from '@plantstore/test-support/record-log';
import { createFetchHandler, type FetchHandlerOptions } from '../src/fetch/create-fetch-handler.ts';
import { maxBodyBytes, plant } from './listen.ts';

export const url = 'http://plants.test/plants';
export const headers = { Authorization: 'Bearer good', 'Content-Type': 'application/json' };

/** A valid request. */
export const good = { method: 'POST', headers, body: plant(7) };

/** Creates a fetch handler that accepts the token `good`. */
export const handlerWith = (options: Partial<FetchHandlerOptions> = {}) =>
  createFetchHandler({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'good',
    maxBodyBytes,
    ...options,
  });

/** Creates a fetch handler with a log that is recorded. */
export const loggingHandler = (options: Partial<FetchHandlerOptions> = {}) => {
  const { logged, logger } = recordLog();
  return { logged, handler: handlerWith({ logger, ...options }) };
};

/** Returns a request with a body that is a stream. */
export const streaming = (body: ReadableStream, more: RequestInit = {}) =>
  new Request(url, { ...good, body, duplex: 'half', ...more });
