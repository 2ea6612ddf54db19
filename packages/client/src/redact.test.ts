import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createTestClient,
  errorOf,
  never,
  plant,
  rejecting,
  respondWith,
  token,
  untyped,
} from '../test/fixtures.ts';
import { startServer } from '../test/start-server.ts';
import { createClient, type PlantClient } from './index.ts';
import { maxTextLength, redact as redactTokens } from './redact.ts';

const redact = (secret: string, text: string) => redactTokens([secret], text);

const secret = 'mF_9.B5f-4+M~/top==';
const hexOf = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');
const escapes: readonly (readonly [string, (character: string) => string])[] = [
  ['as it is', (character) => character],
  ['percent-encoded', (character) => `%${hexOf(character)}`],
  ['in JSON', (character) => `\\u00${hexOf(character).toUpperCase()}`],
  ['in JSON of PHP', (character) => (character === '/' ? '\\/' : character)],
];

describe.each(escapes)('a token %s', (how, escape) => {
  const whole = secret.replaceAll(/./g, escape);

  it(`a token ${how} is redacted with the whole of its word, and no other word`, () => {
    expect(redact(secret, `{"token":"${whole}"} ?a=1&t=${whole} 5%25 <b>${whole}</b>`)).toBe(
      '{"token":"***"} ?a=1&*** 5%25 <b>***</b>',
    );
  });

  it(`the first 16 characters of a truncated token ${how} are redacted`, () => {
    const start = secret.slice(0, 16).replaceAll(/./g, escape);
    expect(redact(secret, `Bearer ${start}...`)).toBe('Bearer ***');
  });

  it(`no part of a token ${how} is shown, wherever the text is truncated`, () => {
    for (let length = 1; length <= whole.length; length += 1) {
      const before = `${whole}, token "${whole.slice(0, length)}`;
      const spaces = ' '.repeat(maxTextLength - before.length);
      const text = redact(secret, spaces + before + whole).trimStart();
      expect([length, text]).toEqual([length, '***, token "***']);
    }
  });
});

describe('a token', () => {
  it('a token of any length and characters is redacted, with any of its characters escaped', () => {
    const characters = fc.stringMatching(/^[A-Za-z._~+/-]$/);
    const tokens = fc.array(characters, { minLength: 40, maxLength: 600, size: 'max' });
    const forms = fc.infiniteStream(fc.constantFrom(0, 1, 2));
    fc.assert(
      fc.property(tokens, forms, (parts, form) => {
        const escaped = parts.map((part) => escapes[Number(form.next().value)]?.[1](part)).join('');
        expect(redact(parts.join(''), `before ${escaped} after`)).toBe('before *** after');
      }),
      { numRuns: 30 },
    );
  });

  it('each token of a call is redacted, also one that is part of another, or overlaps it', () => {
    expect(redactTokens(['abcdefgh', 'abcdefghij'], 'abcdefgh, abcdefghij, ab')).toBe(
      '***, ***, ab',
    );
    expect(redactTokens(['abcd.abcd', 'abcd.cdef'], 'abcd.abcd.cdef')).toBe('***');
    expect(redactTokens([], 'any text')).toBe('any text');
  });

  it.each([
    ['{"token":"abc"}', '?token=abc&other', '(abc), or the token abc.', 'abc- /abc/ _abc_ abc=='],
    ['user:abc@host', '%22abc%22', '\\u0022abc\\u0022', '\\nabc\\n', 'x\nabc\ny', 'éabcé'],
  ])('a token of three characters that is a word of its own is redacted', (...texts) => {
    for (const text of texts) expect(redact('abc', text)).toMatch(/^(?!.*abc).*\*\*\*/s);
  });

  it('a token of fewer than 8 characters is not redacted in other words', () => {
    const others = 'abcd, xabc, 1abc, abc1, ABC, ab, xabcx xabc abcx';
    expect(redact('abc', others)).toBe(others);
    expect(redact('abcdefg', 'xabcdefg abcdefg')).toBe('xabcdefg ***');
    expect(redact('abcdefgh', 'xabcdefgh')).toBe('***');
  });

  it.each(['a.c', 'a+c', 'abcdefg.i', 'abcdefg+i'])('no character of %s is a pattern', (one) => {
    const others = 'abc a-c a/c ac aac abcdefghi abcdefgggi';
    expect(redact(one, `${others} ${one}`)).toBe(`${others} ***`);
  });
});

it('a text is truncated to 4096 characters, and its last word redacted if it ends with one', () => {
  const truncated = (text: string, length: number) =>
    redact('abc', ' '.repeat(maxTextLength - length) + text).slice(maxTextLength - length);
  expect(redact('abc', 'x '.repeat(450_000))).toBe('x '.repeat(2048));
  expect(truncated('one two', 7)).toBe('one two');
  expect(truncated('one two', 6)).toBe('one ***');
  expect(truncated('one two three', 8)).toBe('one two ');
  expect(truncated('one two "three', 9)).toBe('one two "');
  // Not in the middle of a surrogate pair.
  expect(truncated('a \u{1fab4} b', 3)).toBe('a ***');
  expect(truncated('a \u{1fab4} b', 4)).toBe('a \u{1fab4}');
  expect(redact('abc', 'a \ud83e')).toBe('a \ud83e');
});

const inspectFully = (value: unknown) =>
  inspect(value, { depth: null, showHidden: true, getters: true }) + JSON.stringify(value);

/** Returns an error with the request's headers in every member, as an HTTP library might throw it. */
const errorWith = (credential: string) => {
  const text = `POST failed, Authorization: Bearer ${credential}`;
  const cause = Object.assign(new Error(text), { code: text, headers: { authorization: text } });
  return Object.assign(new Error(text, { cause }), { name: text, request: text });
};

/** Returns all that can be seen of a call that fails. */
const inspectCall = async (client: PlantClient, signal?: AbortSignal) => {
  const creating = client.createPlant(plant, { signal });
  const pending = inspectFully(creating);
  const created = await creating;
  expect(created.isErr()).toBe(true);
  return [pending, inspectFully(creating), inspectFully(created), inspectFully(client)].join('\n');
};

describe('the token in a call', () => {
  // For example, a JWT with many claims, of the maximum length of a header field.
  const long = randomBytes(6_000).toString('base64url') + '-._~+/'.repeat(1_000);

  it.each([
    ['fetch throws it', token, rejecting(errorWith(token))],
    ['fetch throws it, however long it is', long, rejecting(errorWith(long))],
    [
      'it is the id of the request',
      token,
      async () => new Response('', { status: 404, headers: { 'X-Request-Id': token } }),
    ],
    [
      'it is in a redirect',
      token,
      async () => new Response('', { status: 302, headers: { location: `/?token=${token}` } }),
    ],
    ['a long one is in the body', long, async () => new Response(long)],
  ])('the token is in no error and no client if %s', async (_, used, fetch) => {
    const seen = await inspectCall(createTestClient(fetch, { token: used }));
    expect(seen).not.toContain(used.slice(0, 30));
    expect(seen).toContain('***');
  });

  it('the token is not in the error if the reason of an abort contains it, before it was sent, too', async () => {
    const client = createTestClient(rejecting('no'));
    expect(await inspectCall(client, AbortSignal.abort(errorWith(token)))).not.toContain(token);
    const controller = new AbortController();
    const waiting = createTestClient(never, { headers: untyped(never) });
    setTimeout(() => controller.abort(errorWith(token)));
    expect(await inspectCall(waiting, controller.signal)).not.toContain(token);
  });

  it.each([
    [200, token],
    [502, `<pre>Authorization: Bearer ${token}</pre>`],
    [401, JSON.stringify({ error: 2402, message: `${token} is not accepted` })],
  ])('the token is not in the error if a response with status %i has it', async (status, body) => {
    const baseUrl = await startServer(respondWith(status, body));
    expect(await inspectCall(createClient({ baseUrl, token, retries: 0 }))).not.toContain(token);
  });

  it.each([
    ['first-secret', 'first-secret-renewed'],
    ['first-secret', 'another-one'],
  ])('both tokens of a call are redacted in its error: %s and %s', async (...tokens) => {
    const client = createTestClient(
      async () => new Response(`Bearer ${tokens.join(' and ')}`, { status: 401 }),
      { token: ({ refresh }) => tokens[refresh ? 1 : 0] ?? '' },
    );
    expect(await errorOf(client)).toMatchObject({ attempts: 2, body: 'Bearer *** and ***' });
  });

  it('a token that is invalid is neither in a request nor in the error', async () => {
    const client = createTestClient(rejecting('was called'), { token: 'secret\r\nX-Evil: 1' });
    const error = await errorOf(client);
    expect(error).toMatchObject({ kind: 'token-failed', attempts: 0 });
    expect(JSON.stringify(error)).not.toContain('secret');
  });
});
