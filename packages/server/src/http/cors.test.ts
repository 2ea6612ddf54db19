import type { PlantRepository } from '@plantstore/core';
import { errorTable } from '@plantstore/core/errors';
import { sendRaw } from '@plantstore/test-support/raw-http';
import { recordLog } from '@plantstore/test-support/record-log';
import { describe, expect, it } from 'vitest';
import { chunked, goodFields, head, listen, post } from '../../test/listen.ts';
import { type Change, headWith } from '../../test/requests.ts';
import { admissionOf, outcomeOf, serviceWith } from '../../test/services.ts';
import { pairsOf } from './responses.ts';

const garden = 'https://garden.example';
const corsOrigins = [garden, 'http://localhost:5173', 'capacitor://localhost'];
const corsService = serviceWith({ corsOrigins });

/** Adds an Origin field to a request. */
const from = (origin: string, bytes: string) => bytes.replace('\r\n', `\r\nOrigin: ${origin}\r\n`);

const headersFor = (origin?: string | readonly string[]) =>
  pairsOf(corsService.headersFor(headWith({ Origin: origin }).origin));

const broken: PlantRepository = {
  create: () => {
    throw new Error('a bug');
  },
};

describe('page of a listed origin', () => {
  const shared = {
    'access-control-allow-origin': garden,
    'access-control-expose-headers': 'Retry-After, WWW-Authenticate, X-Request-Id',
    vary: 'Origin',
  };

  // One for each way of the server to respond.
  it.each<[number, string, object?]>([
    [200, post(7)],
    [400, chunked('nonsense')],
    [404, head(['Host: a:1'], 'CONNECT a:1 HTTP/1.1')],
    [408, head([...goodFields, 'Content-Length: 9']), { requestTimeoutMs: 100 }],
    [431, head(['Host: a', ...Array<string>(300).fill('X: y')])],
    [500, post(7), { repository: broken }],
    [501, head([...goodFields, 'Transfer-Encoding: gzip, chunked'])],
  ])('a page of a listed origin may read the response %i', async (status, bytes, options = {}) => {
    const { port } = await listen({ corsOrigins, ...options });
    const response = await sendRaw(port, from(garden, bytes));
    expect(response.status).toBe(status);
    expect(response.headers).toMatchObject(shared);
  });

  it('a page of a listed origin gets a preflight response without a body that may be cached for two hours', async () => {
    const corsAllowedHeaders = ['traceparent', 'X-Key'];
    const { port } = await listen({ corsOrigins, corsAllowedHeaders });
    const preflight = from(garden, head(['Host: a'], 'OPTIONS /plants HTTP/1.1'));
    const { status, body, headers } = await sendRaw(port, preflight);
    expect({ status, body, headers }).toEqual({
      status: 204,
      body: '',
      headers: {
        ...shared,
        allow: 'OPTIONS, POST',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'authorization, content-type, traceparent, X-Key',
        'access-control-max-age': '7200',
        'x-request-id': expect.any(String) as unknown,
        date: expect.any(String) as unknown,
        connection: 'keep-alive',
        'keep-alive': expect.any(String) as unknown,
      },
    });
  });

  it('a page of each listed origin gets its own origin, and still needs a token', async () => {
    for (const origin of corsOrigins) expect(headersFor(origin)[0]?.[1]).toBe(origin);
    expect(await admissionOf({ Origin: garden }, { corsOrigins })).toBe('admitted');
    const withoutToken = { Origin: garden, Authorization: undefined };
    expect(await admissionOf(withoutToken, { corsOrigins })).toBe('unauthenticated');
  });
});

const preflight: Change = { method: 'OPTIONS', Authorization: undefined, Origin: garden };

describe('page of another origin', () => {
  it.each([
    undefined,
    'https://weeds.example',
    `${garden}.weeds.example`,
    'https://garden.exampl',
    'https://my.garden.example',
    'http://garden.example',
    `${garden}:8443`,
    'https://Garden.example',
    `${garden}/`,
    'null',
    '*',
    `${garden} ${garden}`,
    [garden, garden],
    '__proto__',
  ])('a page of the origin %j gets only Vary: Origin, also for a preflight', async (origin) => {
    expect(headersFor(origin)).toEqual([['Vary', 'Origin']]);
    const request = headWith({ ...preflight, Origin: origin });
    const { response } = await corsService.admit(request);
    expect(response).toMatchObject({ status: 204, headers: ['Allow', 'OPTIONS, POST'], body: '' });
  });

  it.each([
    [garden, undefined],
    ['null', 'the origin "null" is not allowed'],
    [`https://${'x'.repeat(2_000)}`, `the origin "https://${'x'.repeat(1_016)}…" is not allowed`],
  ])('the log line of a preflight names an origin that is not allowed: %#', async (...row) => {
    const [origin, cause] = row;
    const { logged, logger } = recordLog();
    const { port } = await listen({ corsOrigins, logger });
    await sendRaw(port, from(origin, head(['Host: a'], 'OPTIONS /plants HTTP/1.1')));
    expect(logged).toMatchObject([{ level: 'info', message: 'request', status: 204 }]);
    expect(logged[0]?.['cause']).toBe(cause);
  });
});

describe('preflight', () => {
  it.each([
    ['bad-request', { Host: undefined }],
    ['path-unknown', { target: '/elsewhere' }],
    ['path-unknown', { target: '*' }],
  ])('a preflight is checked after framing, Host and path: %s', async (name, change) => {
    const request = headWith({ ...preflight, ...change });
    expect(outcomeOf(await corsService.admit(request))).toBe(name);
  });

  it.each([
    ['a preflight without CORS', preflight, undefined, 'POST'],
    ['another method with CORS', { method: 'PUT' }, corsOrigins, 'OPTIONS, POST'],
  ])('%s is refused with 405', async (_, change, origins, allow) => {
    const service = serviceWith(origins && { corsOrigins: origins });
    const { response } = await service.admit(headWith(change));
    expect(response?.error).toBe(errorTable['method-not-allowed'].error);
    expect(pairsOf(response?.headers ?? [])).toContainEqual(['Allow', allow]);
    if (origins === undefined) expect(service.headersFor(garden)).toEqual([]);
  });
});
