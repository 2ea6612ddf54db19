import { errorTable } from '@plantstore/core/errors';
import type { PlantRepository } from '@plantstore/core';
import { errAsync, ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { serviceWith } from '../../test/services.ts';
import type { ServiceOptions } from './options.ts';
import { readHead } from './request-head.ts';
import { pairsOf } from './responses.ts';

const head = readHead('POST', '/plants', '1.1', []);

/** Returns a function that serves the body of an admitted request. */
const serving = (create?: PlantRepository['create'], options: Partial<ServiceOptions> = {}) => {
  const service = serviceWith({
    ...(create !== undefined && { repository: { create } }),
    ...options,
  });
  return async (body = '{"id":7,"name":"x"}') => service.respond(head, Buffer.from(body));
};

const never = () => ResultAsync.fromSafePromise(new Promise<never>(() => {}));

describe('the response to a request body', () => {
  it('the response to an invalid plant has the number of the first fault and every fault in its message', async () => {
    const { body } = await serving()('{"tag":1,"name":2}');
    const { error, message } = JSON.parse(body) as { error: number; message: string };
    expect(error).toBe(1101);
    expect(message).toMatch(/^id .*; name .*; tag /);
  });

  it('the response is 400 with the number and message of a plant-refused error, and its length in bytes', async () => {
    const message = 'größer: "\ud800"';
    const refused = { kind: 'plant-refused', error: 4001, message } as const;
    const { status, error, body, headers } = await serving(() => errAsync(refused))();
    expect([status, error, JSON.parse(body)]).toEqual([400, 4001, { error: 4001, message }]);
    expect(pairsOf(headers)).toContainEqual(['Content-Length', String(Buffer.byteLength(body))]);
  });

  it('the response is 503 with Retry-After if the store is unavailable, and only the cause has the reason', async () => {
    const unavailable = { kind: 'store-unavailable', reason: 'the disk is full' } as const;
    const response = await serving(() => errAsync(unavailable))();
    expect(response).toMatchObject({
      status: 503,
      error: 3503,
      cause: { reason: 'the disk is full' },
    });
    expect(Object.fromEntries(pairsOf(response.headers))['Retry-After']).toMatch(/^\d+$/);
    expect(response.body).not.toContain('disk');
  });

  it('the response is 503 with its cause if the repository does not settle in time, which does not keep the process alive', async () => {
    const cause = 'the repository timed out after 20 ms';
    expect(await serving(never, { handlerTimeoutMs: 20 })()).toMatchObject({ error: 3503, cause });
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
    const before = timers();
    void serving(never, { handlerTimeoutMs: 60_000 })();
    expect(timers()).toEqual(before);
  });

  it.each<[string, PlantRepository['create']]>([
    [
      'a repository throws',
      () => {
        throw new Error('a bug in /home/secret');
      },
    ],
    [
      'a plant-refused error has a number of the error table',
      () => errAsync({ kind: 'plant-refused', error: 1401, message: 'no' }),
    ],
    [
      'reading the error of a repository throws',
      () =>
        errAsync({
          kind: 'store-unavailable',
          get reason(): string {
            throw new Error('unreadable');
          },
        }),
    ],
  ])('the response is 500 without details if %s', async (_, create) => {
    const { status, error, body, cause } = await serving(create)();
    expect([status, error]).toEqual([500, 3500]);
    expect(body).toBe(JSON.stringify({ error: 3500, message: errorTable.internal.message }));
    expect(cause).toBeInstanceOf(Error);
  });
});
