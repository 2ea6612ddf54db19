import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  respondWith,
  createTestClient,
  errorOf,
  never,
  plant,
  token,
  untyped,
} from '../test/fixtures.ts';
import { startServer } from '../test/start-server.ts';
import { createClient, type PlantClient } from './index.ts';
import { maxTextLength, redact } from './redact.ts';

const inspectFully = (value: unknown) =>
  inspect(value, { depth: null, showHidden: true, getters: true }) + JSON.stringify(value);

/** Returns an error with the request's headers in every member, as an HTTP library might throw it. */
const errorWithToken = () => {
  const text = `POST failed, Authorization: Bearer ${token}`;
  const cause = Object.assign(new Error(text), { code: text, headers: { authorization: text } });
  return Object.assign(new Error(text, { cause }), { name: text, request: text });
};

const inspectCall = async (client: PlantClient, signal?: AbortSignal) => {
  const creating = client.createPlant(plant, { signal });
  const pending = inspectFully(creating);
  const created = await creating;
  expect(created.isErr()).toBe(true);
  return [pending, inspectFully(creating), inspectFully(created), inspectFully(client)].join('\n');
};

describe('token', () => {
  it('the token is not in the client, and not in the error if fetch throws it', async () => {
    const client = createTestClient(() => Promise.reject(errorWithToken()));
    expect(await inspectCall(client)).not.toContain(token);
  });

  it('the token is not in the error if the abort reason contains it', async () => {
    const client = createTestClient(() => Promise.reject(errorWithToken()));
    expect(await inspectCall(client, AbortSignal.abort(errorWithToken()))).not.toContain(token);
  });

  it('the token is not in the error if the abort reason contains it before the token was sent', async () => {
    const controller = new AbortController();
    const client = createTestClient(never, { headers: untyped(never) });
    setTimeout(() => controller.abort(errorWithToken()));
    expect(await inspectCall(client, controller.signal)).not.toContain(token);
  });

  it.each([
    [200, token],
    [502, `<pre>Authorization: Bearer ${token}</pre>`],
    [401, JSON.stringify({ error: 2402, message: `${token} is not accepted` })],
  ])(
    'the token is not in the error if a response with status %i contains it',
    async (status, body) => {
      const baseUrl = await startServer(respondWith(status, body));
      expect(await inspectCall(createClient({ baseUrl, token, retries: 0 }))).not.toContain(token);
    },
  );
});

describe('a token of the maximum length of a header field', () => {
  // For example, a JWT with many claims.
  const long = randomBytes(6_000).toString('base64url') + '-._~+/'.repeat(1_000);

  it.each([
    ['a 401', async () => new Response(`{"error":2402,"message":"${long}"}`, { status: 401 })],
    ['no plant', async () => new Response(long)],
    ['a failure', () => Promise.reject(new Error(long))],
  ])(
    'a token of the maximum length of a header field is redacted in the error for a response with %s',
    async (_, fetch) => {
      const error = await errorOf(createTestClient(fetch, { token: long }));
      expect(error).toMatchObject({ attempts: 1 });
      expect(inspectFully(error)).toContain('***');
      expect(inspectFully(error)).not.toContain(long.slice(0, 50));
    },
  );
});

describe('token at the end of a truncated body', () => {
  const secret = 'mF_9.B5f-4+M~/top==';
  const hexOf = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');
  const escapes: Record<string, (character: string) => string> = {
    nothing: (character) => character,
    'a URL': (character) => `%${hexOf(character)}`,
    JSON: (character) => `\\u00${hexOf(character)}`,
    'JSON of PHP': (character) => (character === '/' ? '\\/' : character),
  };

  /** Returns the body of the error for a response that is truncated after `before`. */
  const bodyAfter = async (before: string, after = ' after', status = 502) => {
    const body = ' '.repeat(maxTextLength - Buffer.byteLength(before)) + before + after;
    const response = new Response(body, { status });
    const error = await errorOf(createTestClient(async () => response, { token: secret }));
    return error !== undefined && 'body' in error ? error.body.trimStart() : error;
  };

  it.each(Object.entries(escapes))(
    'a token at the end of a truncated body is redacted completely, wherever it is truncated, escaped by %s',
    async (_, escape) => {
      // A complete token precedes it, because its escapes could change how the rest is parsed.
      const whole = secret.replaceAll(/./g, escape);
      for (let length = 1; length <= whole.length; length += 1) {
        const before = `${whole}, token "${whole.slice(0, length)}`;
        const spaces = ' '.repeat(maxTextLength - before.length);
        const text = redact([secret], spaces + before + whole).trimStart();
        expect([length, text]).toEqual([length, '***, token "***']);
      }
      const half = whole.slice(0, whole.length / 2);
      expect(await bodyAfter(`${whole}, token "${half}`, whole)).toBe('***, token "***');
    },
  );

  it('a token at the end of a truncated body is redacted in a 200 without a plant, and without a web stream', async () => {
    expect(await bodyAfter(`"${secret.slice(0, -1)}`, secret, 200)).toBe('"***');
    const body = new TextEncoder().encode(`${' '.repeat(maxTextLength - 5)}${secret}`);
    const old = { status: 502, arrayBuffer: async () => body.buffer };
    const error = await errorOf(createTestClient(async () => untyped(old), { token: secret }));
    expect(error).toMatchObject({ body: `${' '.repeat(maxTextLength - 5)}***` });
  });

  it('a token at the end of a body is redacted with its whole word only if the body is truncated', async () => {
    expect(await bodyAfter('the last word', '')).toBe('the last word');
    expect(await bodyAfter('the last word', 's')).toBe('the last ***');
    expect(await bodyAfter('the last word', ' more')).toBe('the last ***');
  });
});
