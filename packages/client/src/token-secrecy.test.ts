import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { answering, clientWith, errorOf, never, plant, token, untyped } from '../test/fixtures.ts';
import { serve } from '../test/serve.ts';
import { createClient, type PlantClient } from './index.ts';

const shown = (value: unknown) =>
  inspect(value, { depth: null, showHidden: true, getters: true }) + JSON.stringify(value);

/** An error as an HTTP library might throw it, with the request's headers in every corner. */
const leaky = () => {
  const text = `POST failed, Authorization: Bearer ${token}`;
  const cause = Object.assign(new Error(text), { code: text, headers: { authorization: text } });
  return Object.assign(new Error(text, { cause }), { name: text, request: text });
};

const everythingShown = async (client: PlantClient, signal?: AbortSignal) => {
  const creating = client.createPlant(plant, { signal });
  const pending = shown(creating);
  const created = await creating;
  expect(created.isErr()).toBe(true);
  return [pending, shown(creating), shown(created), shown(client)].join('\n');
};

describe('the token', () => {
  it('shows neither in the client nor in the error of a fetch that throws it', async () => {
    const client = clientWith(() => Promise.reject(leaky()));
    expect(await everythingShown(client)).not.toContain(token);
  });

  it('does not show where an abort repeats it', async () => {
    const client = clientWith(() => Promise.reject(leaky()));
    expect(await everythingShown(client, AbortSignal.abort(leaky()))).not.toContain(token);
  });

  it('does not show where an abort repeats it before it is sent', async () => {
    const controller = new AbortController();
    const client = clientWith(never, { headers: untyped(never) });
    setTimeout(() => controller.abort(leaky()));
    expect(await everythingShown(client, controller.signal)).not.toContain(token);
  });

  it.each([
    [200, token],
    [502, `<pre>Authorization: Bearer ${token}</pre>`],
    [401, JSON.stringify({ error: 2402, message: `${token} is not accepted` })],
  ])('does not show where an answer with status %i repeats it', async (status, body) => {
    const baseUrl = await serve(answering(status, body));
    expect(await everythingShown(createClient({ baseUrl, token, retries: 0 }))).not.toContain(
      token,
    );
  });
});

describe('a token as long as a header field may be', () => {
  // As a JWT with many groups or claims is.
  const long = randomBytes(6_000).toString('base64url') + '-._~+/'.repeat(1_000);

  it.each([
    ['a 401', async () => new Response(`{"error":2402,"message":"${long}"}`, { status: 401 })],
    ['no plant', async () => new Response(long)],
    ['a failure', () => Promise.reject(new Error(long))],
  ])('leaves %s an error without the token, and no rejection', async (_, answer) => {
    const error = await errorOf(clientWith(answer, { token: long }));
    expect(error).toMatchObject({ attempts: 1 });
    expect(shown(error)).toContain('***');
    expect(shown(error)).not.toContain(long.slice(0, 50));
  });
});

describe('a token that lies across the cut of an over-long body', () => {
  const secret = 'mF_9.B5f-4+M~/top==';
  const hexOf = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');
  const escapes: Record<string, (character: string) => string> = {
    nothing: (character) => character,
    'a URL': (character) => `%${hexOf(character)}`,
    'a URL in a URL': (character) => `%25${hexOf(character)}`,
    JSON: (character) => `\\u00${hexOf(character)}`,
    'JSON in JSON': (character) => `\\\\u00${hexOf(character)}`,
    'backslashes of JSON': (character) => `\\${character}`,
    HTML: (character) => `&#x${hexOf(character)};`,
    'decimal HTML': (character) => `&#${character.charCodeAt(0)};`,
    'decimal HTML in a URL': (character) => `%26%23${character.charCodeAt(0)}%3B`,
  };
  const requestBytes = JSON.stringify({ ...plant, id: 0 }).length - 1 + String(plant.id).length;
  const longest = 2 ** 20 + 6 * requestBytes;

  /** The body of the error after an answer of which only the first `before` survives the cut. */
  const bodyAfter = async (before: string, after = ' after', status = 502) => {
    const body = ' '.repeat(longest - Buffer.byteLength(before)) + before + after;
    const response = new Response(body, { status });
    const error = await errorOf(clientWith(async () => response, { token: secret }));
    return error !== undefined && 'body' in error ? error.body.trimStart() : error;
  };

  it.each(Object.entries(escapes))(
    'shows none of its characters, wherever it is cut, escaped by %s',
    async (_, escape) => {
      // One escaped as a whole stands before, as that could change how the rest is read.
      const whole = secret.replaceAll(/./g, escape);
      for (let length = 1; length <= whole.length; length += 1) {
        const body = await bodyAfter(`${whole}, token "${whole.slice(0, length)}`, whole);
        expect([length, body]).toEqual([length, '***, token "***']);
      }
    },
  );

  it('shows none of its characters in a 200 that is no plant, or without a web stream', async () => {
    expect(await bodyAfter(`"${secret.slice(0, -1)}`, secret, 200)).toBe('"***');
    const body = new TextEncoder().encode(`${' '.repeat(longest - 5)}${secret}`);
    const old = { status: 502, arrayBuffer: async () => body.buffer };
    const error = await errorOf(clientWith(async () => untyped(old), { token: secret }));
    expect(error).toMatchObject({ body: `${' '.repeat(longest - 5)}***` });
  });

  it('takes the last word along only where the body is cut off', async () => {
    expect(await bodyAfter('the last word', '')).toBe('the last word');
    expect(await bodyAfter('the last word', 's')).toBe('the last ***');
    expect(await bodyAfter('the last word', ' more')).toBe('the last ***');
  });

  it('shows a character that the cut splits as the replacement character', async () => {
    const split = new TextEncoder().encode('last \u{1fab4}').subarray(0, -1);
    const body = new Uint8Array(longest + 99).fill(0x20);
    body.set(split, longest - split.length);
    const response = new Response(body, { status: 502 });
    const error = await errorOf(clientWith(async () => response, { token: secret }));
    expect(error).toMatchObject({ body: expect.stringMatching(/^ +last \ufffd$/) });
  });
});
