import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { type ErrorName, errorTable } from '@plantstore/core/errors';
import { connectRaw, parseResponses, type RawResponse } from '@plantstore/test-support/raw-http';
import { describe, expect, it } from 'vitest';
import { otherPaths, refusedFraming, servedFraming } from '../../test/framing-cases.ts';
import { listen, post } from '../../test/listen.ts';

/** Further headers of an error. */
const furtherHeaders: Partial<Record<ErrorName, Readonly<Record<string, string>>>> = {
  'method-not-allowed': { allow: 'POST' },
  unauthenticated: { 'www-authenticate': 'Bearer realm="plantstore"' },
};

const expectRow = (name: ErrorName, response: RawResponse | undefined) => {
  const { status, error } = errorTable[name];
  expect(response?.status).toBe(status);
  expect(response?.headers).toMatchObject({
    'content-type': 'application/json',
    'content-length': String(response?.body.length),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    date: expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/) as unknown,
    ...furtherHeaders[name],
  });
  expect(Object.entries(JSON.parse(response?.body ?? '') as object)).toEqual([
    ['error', error],
    ['message', expect.stringMatching(/^[a-zA-Z]/)],
  ]);
};

/** Sends bytes followed by a valid request for plant 99, and half-closes the connection. */
const exchange = async (bytes: string) => {
  const inner = createMemoryRepository();
  const stored: bigint[] = [];
  const repository: PlantRepository = {
    create: (newPlant) => {
      stored.push(newPlant.id);
      return inner.create(newPlant);
    },
  };
  const { port } = await listen({ repository });
  const { socket, ended } = await connectRaw(port);
  socket.end(Buffer.from(bytes + post(99), 'latin1'));
  const responses = parseResponses(await ended);
  socket.destroy();
  return { responses, stored };
};

describe('invalid framing', () => {
  it.each(refusedFraming)(
    'invalid framing gets one response, %s, and the connection is closed: %s',
    async (name, _, bytes) => {
      const { responses, stored } = await exchange(bytes);
      expectRow(name, responses[0]);
      expect(responses[0]?.headers['connection']).toBe('close');
      expect(responses).toHaveLength(1);
      expect(stored).toEqual([]);
    },
  );
});

describe('request target with another path', () => {
  it.each(otherPaths)(
    'a request target with another path gets 404, and the connection is kept: %s',
    async (_, bytes) => {
      const { responses, stored } = await exchange(bytes);
      expectRow('path-unknown', responses[0]);
      expect(responses[1]?.status).toBe(200);
      expect(stored).toEqual([99n]);
    },
  );
});

describe('valid but unusual framing', () => {
  it.each(servedFraming)('valid but unusual framing is served: %s', async (_, bytes) => {
    const { responses, stored } = await exchange(bytes);
    expect(responses[0]).toMatchObject({ status: 200, body: '{"name":"Monstera"}' });
    // After a response with Connection: close, no further request is served.
    const more = responses[0]?.headers['connection'] === 'close' ? [] : [99n];
    expect(stored).toEqual([7n, ...more]);
  });
});
