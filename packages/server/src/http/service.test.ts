import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { type ErrorName, errorTable } from '@plantstore/core/errors';
import fc from 'fast-check';
import { errAsync, ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { pairsOf } from './responses.ts';
import { readOptions, type ServiceOptions, serviceRules } from './options.ts';
import { readHead } from './request-head.ts';
import { createService } from './service.ts';

const head = readHead('POST', '/plants', '1.1', []);

const serviceWith = (options: Partial<ServiceOptions> = {}) => {
  const service = createService(
    readOptions(serviceRules, {
      repository: createMemoryRepository(),
      authenticate: () => true,
      ...options,
    }),
  );
  return { ...service, create: async (body: Uint8Array) => service.respond(head, body) };
};

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe('the response to a request body', () => {
  it('the response to a plant is the plant, without its id', async () => {
    const response = await serviceWith().create(
      bytesOf('{"tag":"climber","id":7,"name":"Monstera"}'),
    );
    expect(response).toMatchObject({ status: 200, body: '{"name":"Monstera","tag":"climber"}' });
  });

  it('the response to a plant with an empty tag has the tag', async () => {
    const response = await serviceWith().create(bytesOf('{"id":7,"name":"","tag":""}'));
    expect(response).toMatchObject({ status: 200, body: '{"name":"","tag":""}' });
  });

  it('the response to a refused plant has the length of its message in bytes', async () => {
    const create = () =>
      errAsync({ kind: 'plant-refused', error: 4001, message: 'größer' } as const);
    const response = await serviceWith({ repository: { create } }).create(
      bytesOf('{"id":7,"name":"x"}'),
    );
    const length = String(Buffer.byteLength('{"error":4001,"message":"größer"}'));
    expect(pairsOf(response.headers)).toContainEqual(['Content-Length', length]);
  });

  it('the response to a plant has exactly the promised headers', async () => {
    const response = await serviceWith().create(bytesOf('{"id":7,"name":"🪴"}'));
    expect(pairsOf(response.headers)).toEqual([
      ['Content-Type', 'application/json'],
      ['Cache-Control', 'no-store'],
      ['X-Content-Type-Options', 'nosniff'],
      ['Content-Length', String(Buffer.byteLength('{"name":"🪴"}'))],
    ]);
  });

  it.each<[ErrorName, string]>([
    ['body-missing', ''],
    ['json-malformed', '{"id":7,'],
    ['body-not-object', '[]'],
    ['body-not-object', 'null'],
    ['id-required', '{"name":"x"}'],
    ['id-not-integer', '{"id":"7","name":"x"}'],
    ['id-not-integer', '{"id":1.0000000000000000001,"name":"x"}'],
    ['id-out-of-range', '{"id":9223372036854775808,"name":"x"}'],
    ['id-out-of-range', '{"id":1e400,"name":"x"}'],
    ['name-required', '{"id":7}'],
    ['name-not-text', '{"id":7,"name":"\\ud800"}'],
    ['tag-not-text', '{"id":7,"name":"x","tag":null}'],
  ])('the response is %s for the body %s', async (name, body) => {
    const response = await serviceWith().create(bytesOf(body));
    expect(response).toMatchObject({ status: 400, error: errorTable[name].error });
    expect(JSON.parse(response.body)).toEqual({
      error: errorTable[name].error,
      message: expect.stringMatching(/\w/) as unknown,
    });
  });

  it('the response is encoding-invalid for bytes that are not UTF-8', async () => {
    expect(await serviceWith().create(Uint8Array.of(0xff))).toMatchObject({
      error: errorTable['encoding-invalid'].error,
    });
  });

  it('the response to an invalid plant has the number of the first fault and every fault in its message', async () => {
    const response = await serviceWith().create(bytesOf('{"tag":1,"name":2}'));
    const { error, message } = JSON.parse(response.body) as { error: number; message: string };
    expect(error).toBe(1101);
    expect(message).toMatch(/^id .*; name .*; tag /);
  });

  it('the response is the same for the same plant, and id-taken for a different plant with the same id', async () => {
    const service = serviceWith();
    const first = await service.create(bytesOf('{"id":7.0,"name":"x"}'));
    expect(await service.create(bytesOf('{"name":"x","id":7e0}'))).toEqual(first);
    expect(await service.create(bytesOf('{"id":7,"name":"y"}'))).toMatchObject({
      status: 400,
      error: errorTable['id-taken'].error,
    });
  });

  it('the response is 400 with the number and message of a plant-refused error', async () => {
    const message = 'no weeds: "\ud800"';
    const repository: PlantRepository = {
      create: () => errAsync({ kind: 'plant-refused', error: 4001, message }),
    };
    const response = await serviceWith({ repository }).create(bytesOf('{"id":7,"name":"x"}'));
    expect(response).toMatchObject({ status: 400, error: 4001 });
    expect(JSON.parse(response.body)).toEqual({ error: 4001, message });
  });

  it('the response is 500 if a plant-refused error has a number of the error table', async () => {
    const repository: PlantRepository = {
      create: () => errAsync({ kind: 'plant-refused', error: 1401, message: 'no' }),
    };
    const response = await serviceWith({ repository }).create(bytesOf('{"id":7,"name":"x"}'));
    expect(response).toMatchObject({ status: 500, error: errorTable.internal.error });
  });

  it('the response is 500 if reading the error of a repository throws', async () => {
    const error = {
      kind: 'store-unavailable' as const,
      get reason(): string {
        throw new Error('unreadable');
      },
    };
    const repository: PlantRepository = { create: () => errAsync(error) };
    const response = await serviceWith({ repository }).create(bytesOf('{"id":7,"name":"x"}'));
    expect(response).toMatchObject({ status: 500, error: errorTable.internal.error });
  });

  it('the response is 503 with Retry-After if the store is unavailable, and only the cause has the reason', async () => {
    const repository: PlantRepository = {
      create: () => errAsync({ kind: 'store-unavailable', reason: 'the disk is full' }),
    };
    const response = await serviceWith({ repository }).create(bytesOf('{"id":7,"name":"x"}'));
    expect(response).toMatchObject({
      status: 503,
      error: errorTable.unavailable.error,
      cause: { reason: 'the disk is full' },
    });
    expect(Object.fromEntries(pairsOf(response.headers))['Retry-After']).toMatch(/^\d+$/);
    expect(response.body).not.toContain('disk');
  });

  it('the response is 503 with its cause if the repository does not settle in time', async () => {
    const repository: PlantRepository = {
      create: () => ResultAsync.fromSafePromise(new Promise<never>(() => {})),
    };
    const service = serviceWith({ repository, handlerTimeoutMs: 20 });
    expect(await service.create(bytesOf('{"id":7,"name":"x"}'))).toMatchObject({
      status: 503,
      error: errorTable.unavailable.error,
      cause: 'the repository timed out after 20 ms',
    });
  });

  it('a repository that does not settle does not keep the process alive', () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
    const before = timers();
    const repository: PlantRepository = {
      create: () => ResultAsync.fromSafePromise(new Promise<never>(() => {})),
    };
    void serviceWith({ repository, handlerTimeoutMs: 60_000 }).create(
      bytesOf('{"id":7,"name":"x"}'),
    );
    expect(timers()).toEqual(before);
  });

  it('the response is 500 without details if a repository throws', async () => {
    const repository: PlantRepository = {
      create: () => {
        throw new Error('a bug in /home/secret');
      },
    };
    const response = await serviceWith({ repository }).create(bytesOf('{"id":7,"name":"x"}'));
    expect(response).toMatchObject({
      status: 500,
      error: errorTable.internal.error,
      cause: new Error('a bug in /home/secret'),
    });
    expect(response.body).toBe(
      JSON.stringify({ error: 3500, message: errorTable.internal.message }),
    );
  });

  it('the response to a request body is always JSON of one of the two schemas, and never an exception', async () => {
    const service = serviceWith();
    const body = fc.oneof(fc.uint8Array(), fc.json().map(bytesOf), fc.string().map(bytesOf));
    await fc.assert(
      fc.asyncProperty(body, async (bytes) => {
        const response = await service.create(bytes);
        const keys = Object.keys(JSON.parse(response.body) as object);
        if (response.status === 200) expect(keys).not.toContain('id');
        else expect(keys).toEqual(['error', 'message']);
      }),
      { numRuns: 500 },
    );
  });
});
