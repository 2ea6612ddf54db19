import { describe, expect, it } from 'vitest';
import { good, headers, loggingHandler } from '../../test/fetch-handlers.ts';

/** Returns a request as a runtime passes it on: the constructor of `Request` rejects these URLs. */
const requestWith = (url: string, more: Record<string, string>): Request => {
  const request = new Request('http://a/plants', { ...good, headers: more });
  return Object.defineProperty(request, 'url', { value: url });
};

/** Serves one request, and returns its status, the error number and its log line. */
const served = async (url: string, more: Record<string, string>) => {
  const { handler, logged } = loggingHandler();
  const response = await handler(requestWith(url, more));
  const { error } = (await response.json()) as { error?: number };
  return { status: response.status, error, line: logged[0] };
};

describe('a malformed Host field', () => {
  it.each(['a b', '@', 'u@a', '[', '%zz', 'a:99999', 'a, b', '', 'a/b', ':80', '[1.2.3.4]'])(
    'the malformed Host %j gets error 1000, with and without a token, in whatever URL the runtime makes of it',
    async (host) => {
      // Deno and workerd, Bun for some; Bun, if it finds no host; Deno, for an empty field.
      for (const url of [`http://${host}/plants`, '/plants', 'http://localhost:3000/plants']) {
        for (const more of [headers, {}]) {
          const outcome = await served(url, { ...more, Host: host });
          const line = { message: 'request', method: 'POST', status: 400, error: 1000 };
          expect(outcome).toMatchObject({ status: 400, error: 1000, line });
        }
      }
    },
  );

  it.each([
    '',
    'plants',
    'http:///plants',
    'file:///plants',
    'http://a b/plants',
    'http://[/plants',
  ])(
    'a malformed Host is assumed for a request without Host field whose URL is %j',
    async (url) => {
      expect(await served(url, headers)).toMatchObject({ status: 400, error: 1000 });
    },
  );

  it.each(['u@a', 'u:p@a', '[12345::1]', 'a:65536', '@', ' '])(
    'a request whose URL has the invalid authority "%s" gets error 1000 beside a valid Host field',
    async (authority) => {
      const outcome = await served(`http://${authority}/plants`, { ...headers, Host: 'a' });
      expect(outcome).toMatchObject({ status: 400, error: 1000, line: { path: '/plants' } });
    },
  );
});

it.each<[url: string, status: number, path: string]>([
  ['/plants', 200, '/plants'],
  ['/plants?x=http://b/', 200, '/plants'],
  ['/%70lants#x', 200, '/%70lants'],
  ['/elsewhere', 404, '/elsewhere'],
  ['//plants', 404, '//plants'],
])('a URL that is only a path is used as that path: %s', async (url, status, path) => {
  // Bun passes on a request of HTTP/1.0 without a Host field so.
  for (const host of [{}, { Host: 'a' }, { Host: 'a', 'Transfer-Encoding': 'chunked' }]) {
    expect(await served(url, { ...headers, ...host })).toMatchObject({ status, line: { path } });
  }
});
