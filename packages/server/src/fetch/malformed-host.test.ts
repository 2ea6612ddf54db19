import { createMemoryRepository } from '@plantstore/core';
import { describe, expect, it } from 'vitest';
import { recordEvents } from '../../test/record-events.ts';
import { recordLog } from '@plantstore/test-support/record-log';
import { createFetchHandler } from './create-fetch-handler.ts';

const body = '{"id":7,"name":"Monstera"}';
const good = { Authorization: 'Bearer good', 'Content-Type': 'application/json' };

/** Returns a request as a runtime passes it on: the constructor of `Request` rejects these URLs. */
const requestWith = (url: string, headers: Record<string, string>): Request => {
  const request = new Request('http://a/plants', { method: 'POST', headers, body });
  return Object.defineProperty(request, 'url', { value: url });
};

/** Serves one request, and returns its status, the error number, the log and the events. */
const served = async (url: string, headers: Record<string, string>) => {
  const { logged, logger } = recordLog();
  const events = recordEvents();
  const repository = createMemoryRepository();
  const authenticate = (token: string) => token === 'good';
  const response = await createFetchHandler({ repository, authenticate, logger })(
    requestWith(url, headers),
  );
  const { error } = (await response.json()) as { error?: number };
  return { status: response.status, error, logged, steps: events.map(([step]) => step) };
};

const hosts = [
  'a b',
  '@',
  'u@a',
  '[',
  '%zz',
  'a:99999',
  'a, b',
  '',
  'a/b',
  'a?b',
  ':80',
  '[1.2.3.4]',
  '[1::2::3]',
];

describe('a malformed Host field', () => {
  describe.each(hosts)('%j', (host) => {
    it.each([
      // Deno and workerd; Bun for some.
      ['in the URL', `http://${host}/plants`],
      // Bun, if it finds no host.
      ['beside a path', '/plants'],
      // Deno, for an empty field; a request with an absolute target.
      ['beside another URL', 'http://localhost:3000/plants'],
    ])(
      `the malformed Host ${JSON.stringify(host)} %s gets error 1000, with and without a token`,
      async (_, url) => {
        for (const headers of [good, {}]) {
          const requestId = 'one';
          const outcome = await served(url, { ...headers, Host: host, 'X-Request-Id': requestId });
          expect(outcome).toMatchObject({ status: 400, error: 1000, steps: ['start', 'end'] });
          const line = { message: 'request', requestId, method: 'POST', status: 400, error: 1000 };
          expect(outcome.logged).toMatchObject([line]);
        }
      },
    );
  });

  it.each(['a b', '@', '[', '%zz', 'a:99999'])(
    'the malformed Host %j in the URL of a request without Host field gets error 1000',
    async (host) => {
      const { status, error, logged } = await served(`http://${host}/plants`, good);
      expect({ status, error }).toEqual({ status: 400, error: 1000 });
      expect(logged).toMatchObject([{ path: '/plants', error: 1000 }]);
    },
  );

  it.each(['', 'plants', 'http:///plants', 'file:///plants', 'about:blank'])(
    'a malformed Host is assumed for a request without Host field whose URL is %j',
    async (url) => {
      expect(await served(url, good)).toMatchObject({ status: 400, error: 1000 });
    },
  );
});

it.each(['u@a', 'u:p@a', '[12345::1]', 'a:65536', '@', ' '])(
  'a request whose URL has the invalid authority "%s" gets error 1000 beside a valid Host field',
  async (authority) => {
    const outcome = await served(`http://${authority}/plants`, { ...good, Host: 'a' });
    expect(outcome).toMatchObject({ status: 400, error: 1000, logged: [{ path: '/plants' }] });
  },
);

describe('URL that is only a path', () => {
  it.each<[url: string, status: number, path: string]>([
    ['/plants', 200, '/plants'],
    ['/plants?x=http://b/', 200, '/plants'],
    ['/%70lants#x', 200, '/%70lants'],
    ['/elsewhere', 404, '/elsewhere'],
    ['//plants', 404, '//plants'],
  ])('a URL that is only a path is used as that path: %s', async (url, status, path) => {
    // Bun passes on a request of HTTP/1.0 without a Host field so.
    for (const host of [{}, { Host: 'a' }]) {
      const outcome = await served(url, { ...good, ...host });
      expect(outcome).toMatchObject({ status, logged: [{ path }], steps: ['start', 'end'] });
    }
  });

  it('a URL that is only a path may have a chunked body if there is a Host field', async () => {
    const headers = { ...good, 'Transfer-Encoding': 'chunked' };
    expect(await served('/plants', { ...headers, Host: 'a' })).toMatchObject({ status: 200 });
  });
});
