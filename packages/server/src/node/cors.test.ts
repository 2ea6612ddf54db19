import type { PlantRepository } from '@plantstore/core';
import { sendRaw } from '@plantstore/test-support/raw-http';
import { recordLog } from '@plantstore/test-support/record-log';
import { describe, expect, it } from 'vitest';
import { chunked, goodFields, head, listen, maxBodyBytes, post } from '../../test/listen.ts';

const garden = 'https://garden.example';
const corsOrigins = [garden];

/** Adds an Origin field to a request. */
const from = (origin: string, bytes: string) => bytes.replace('\r\n', `\r\nOrigin: ${origin}\r\n`);

const shared = {
  'access-control-allow-origin': garden,
  'access-control-expose-headers': 'Retry-After, WWW-Authenticate, X-Request-Id',
  vary: 'Origin',
};

const broken: PlantRepository = {
  create: () => {
    throw new Error('a bug');
  },
};

/** One for each way of the server to respond. */
const requests: readonly [number, string, object?][] = [
  [200, post(7)],
  [204, head(['Host: a', 'Access-Control-Request-Method: POST'], 'OPTIONS /plants HTTP/1.1')],
  [400, chunked('nonsense')],
  [400, head([])],
  [404, head(['Host: a:1'], 'CONNECT a:1 HTTP/1.1')],
  [408, head([...goodFields, 'Content-Length: 9']), { requestTimeoutMs: 100 }],
  [413, head([...goodFields, `Content-Length: ${maxBodyBytes + 1}`])],
  [413, chunked('x'.repeat(maxBodyBytes + 1))],
  [417, head([...goodFields, 'Expect: unknown'])],
  [431, head(['Host: a', ...Array<string>(300).fill('X: y')])],
  [500, post(7), { repository: broken }],
  [501, head([...goodFields, 'Transfer-Encoding: gzip, chunked'])],
];

describe('page of a listed origin', () => {
  it.each(requests)(
    'a page of a listed origin may read the response %i',
    async (status, bytes, options = {}) => {
      const { port } = await listen({ corsOrigins, ...options });
      const response = await sendRaw(port, from(garden, bytes));
      expect(response.status).toBe(status);
      expect(response.headers).toMatchObject(shared);
    },
  );

  it.each([
    [garden, undefined],
    ['https://weeds.example', 'the origin "https://weeds.example" is not allowed'],
    ['null', 'the origin "null" is not allowed'],
    [`https://${'x'.repeat(2_000)}`, `the origin "https://${'x'.repeat(1_016)}…" is not allowed`],
  ])(
    'the log line of a preflight names an origin that is not allowed: %#',
    async (origin, cause) => {
      const { logged, logger } = recordLog();
      const { port } = await listen({ corsOrigins, logger });
      await sendRaw(port, from(origin, head(['Host: a'], 'OPTIONS /plants HTTP/1.1')));
      expect(logged).toMatchObject([{ level: 'info', message: 'request', status: 204 }]);
      expect(logged[0]?.['cause']).toBe(cause);
    },
  );

  it('a page of a listed origin gets a preflight response without a body that may be cached for two hours', async () => {
    const { port } = await listen({ corsOrigins });
    const preflight = head(['Host: a', `Origin: ${garden}`], 'OPTIONS /plants HTTP/1.1');
    const { body, headers } = await sendRaw(port, preflight);
    expect(body).toBe('');
    expect(headers).toEqual({
      ...shared,
      allow: 'OPTIONS, POST',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization, content-type',
      'access-control-max-age': '7200',
      'x-request-id': expect.any(String) as unknown,
      date: expect.any(String) as unknown,
      connection: 'keep-alive',
      'keep-alive': expect.any(String) as unknown,
    });
  });
});
