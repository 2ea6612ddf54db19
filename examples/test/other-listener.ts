import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough, pipeline } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

export type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/** What another listener does to a request. */
export const actions: Readonly<Record<string, Listener>> = {
  'does nothing': () => {},
  'reads it': (request) => void request.on('data', () => {}),
  'loops over it': async (request) => {
    for await (const _ of request);
  },
  'leaves a loop over it': async (request) => {
    for await (const _ of request) break;
  },
  'waits until it is readable': (request) => void request.on('readable', () => {}),
  'pauses it': (request) => void request.pause(),
  'resumes it': (request) => void request.resume(),
  'pipes it to a full stream': (request) =>
    void request.pipe(new PassThrough({ highWaterMark: 1 })),
  'pipes and unpipes it': (request) => {
    request.pipe(new PassThrough());
    request.unpipe();
  },
  'destroys a pipeline from it': (request) => {
    const target = new PassThrough();
    pipeline(request, target, () => {});
    target.destroy();
  },
  'sets an encoding': (request) => void request.setEncoding('utf8'),
  'destroys it': (request) => void request.destroy(),
  'destroys it with an error': (request) => void request.destroy(new Error('unwanted')),
  'destroys the response': (_, response) => void response.destroy(),
  responds: (_, response) => {
    if (!response.headersSent) response.writeHead(418, { 'Content-Length': 1 }).end('x');
  },
  throws: () => {
    throw new Error('a fault of the other listener');
  },
};

/** When the other listener is called. It is awaited only before ours. */
export const places = [
  'before',
  'before, a turn later',
  'beside',
  'after',
  'after, a turn later',
] as const;

export type Case = { readonly what: string; readonly place: (typeof places)[number] };

/** Does nothing. */
export const idle: Case = { what: 'does nothing', place: 'after' };

/** What the other listener does to the current request. */
export const other = { current: idle };

/** Calls the other listener, if its place begins with a text. */
export const actAt = (place: string, ...pair: Parameters<Listener>): unknown =>
  other.current.place.startsWith(place) ? actions[other.current.what]?.(...pair) : undefined;

/** Calls our listener and the other one, and counts the calls of ours. */
export const callBoth = async (ours: Listener, ...pair: Parameters<Listener>): Promise<void> => {
  const isLater = other.current.place.endsWith('later');
  if (isLater && other.current.place.startsWith('before')) await nextTurn();
  const acted = actAt('before', ...pair);
  // A loop over a request that is destroyed fails.
  if (acted instanceof Promise) await acted.catch(() => {});
  void actAt('beside', ...pair);
  const served = ours(...pair);
  if (isLater && other.current.place.startsWith('after')) await nextTurn();
  void actAt('after', ...pair);
  await served;
};
