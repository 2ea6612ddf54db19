import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maxTextLength, redact as redactTokens } from './redact.ts';

const createRedactor = (tokens: readonly string[]) => (text: string) => redactTokens(tokens, text);

/** Redacts a text that is truncated to some characters. */
const truncateAndRedact = (tokens: readonly string[], text: string, length: number) =>
  redactTokens(tokens, ' '.repeat(maxTextLength - length) + text).slice(maxTextLength - length);

describe('redactor', () => {
  it.each([
    ['JSON', 'abc\\/def+ghi=='],
    ['JSON with \\u escapes', 'abc\\u002fdef\\u002Bghi\\u003d\\u003D'],
    ['a URL', 'abc%2Fdef%2bghi%3D%3D'],
    ['HTML', 'abc&#x2F;def&#43;ghi&#61;='],
    ['HTML without semicolons', 'abc&#x2Fdef&#43ghi&#61='],
    ['nothing', 'abc/def+ghi=='],
  ])('the redactor finds a token escaped by %s', (_, escaped) => {
    expect(createRedactor(['abc/def+ghi=='])(`before ${escaped} after`)).toBe('before *** after');
  });

  it.each([
    ['a URL in a URL', 'abc%252Fdef%252bghi%253D%253D'],
    ['JSON in a URL', 'abc%5C%2Fdef%2Bghi%3D%3D'],
    ['a URL in a URL in HTML', 'abc&#37;252Fdef&#x2B;ghi=='],
  ])(
    'the redactor finds a token escaped by %s, next to one that was escaped once',
    (_, escaped) => {
      const redact = createRedactor(['abc/def+ghi==']);
      expect(redact(escaped)).toBe('***');
      expect(redact(`abc%2Fdef+ghi==, 5%25 ${escaped}`)).toBe('***, 5%25 ***');
    },
  );

  it('the redactor redacts tokens with different layers of escapes in one text', () => {
    expect(createRedactor(['longer/token', 'short/t'])('longer%252Ftoken short%2Ft')).toBe(
      '*** ***',
    );
  });

  it('the redactor redacts the whole of a token of any length with any characters escaped', () => {
    const characters = fc.stringMatching(/^[A-Za-z._~+/-]$/);
    const tokens = fc.array(characters, { minLength: 40, maxLength: 600, size: 'max' });
    const hexOf = (character: string) => character.charCodeAt(0).toString(16);
    const escapes: ((character: string) => string)[] = [
      (character) => character,
      (character) => `%${hexOf(character)}`,
      (character) => `\\u00${hexOf(character)}`,
      (character) => `&#${character.charCodeAt(0)};`,
      (character) => `\\\\\\${character}`,
    ];
    const howMany = fc.integer({ min: 2, max: escapes.length });
    fc.assert(
      fc.property(tokens, howMany, fc.nat(99), (secret, ways, seed) => {
        const escapedToken = secret.map((character, place) =>
          escapes[(place * (seed + place)) % ways]?.(character),
        );
        const redacted = createRedactor([secret.join('')])(`before ${escapedToken.join('')} after`);
        expect(redacted).toBe('before *** after');
      }),
      { numRuns: 30 },
    );
  });

  it('the redactor redacts every token of a call, also one that is part of another', () => {
    expect(createRedactor(['abcdefgh', 'abcdefghij'])('abcdefgh, abcdefghij, ab')).toBe(
      '***, ***, ab',
    );
  });

  it('the redactor redacts overlapping tokens completely', () => {
    expect(createRedactor(['abcd.abcd', 'abcd.cdef'])('abcd.abcd.cdef, abcd.cdefabcd.abcd')).toBe(
      '***, ***',
    );
  });

  it('the redactor redacts the whole word that contains a token, and no other word', () => {
    expect(
      createRedactor(['abcdefgh'])(
        '?a=1&token=abcdefghi%20 {"token":"abcdefgh","n":"50%25"} <b>abcdefgh</b>',
      ),
    ).toBe('?*** {"token":"***","n":"50%25"} <b>***</b>');
  });

  it.each([
    ['plain', 'mF_9.B5f-4.1JqM~'],
    ['escaped', 'mF%5F9%2EB5f%2D4%2E1JqM%7E'],
  ])('the redactor finds the first 16 characters of a truncated token, %s', (_, part) => {
    expect(createRedactor(['mF_9.B5f-4.1JqM~top+secret/0=='])(`Bearer ${part}...`)).toBe(
      'Bearer ***',
    );
  });

  it('the redactor truncates a text, and redacts its last word if it ends with a word', () => {
    const redact = (text: string, length: number) => truncateAndRedact(['abc'], text, length);
    expect(redact('one two', 6)).toBe('one ***');
    expect(redact('one two', 7)).toBe('one two');
    expect(redact('one two "three', 9)).toBe('one two "');
    expect(redact('one two three', 8)).toBe('one two ');
  });

  it('the redactor truncates no surrogate pair in the middle', () => {
    const redact = (text: string, length: number) => truncateAndRedact(['abc'], text, length);
    expect(redact('a \u{1fab4} b', 3)).toBe('a ***');
    expect(redact('a \u{1fab4} b', 4)).toBe('a \u{1fab4}');
    expect(redact('a\u{1fab4}\u{1fab4}', 4)).toBe('a\u{1fab4}***');
    // Not truncated: the text itself has the half of a character.
    expect(redactTokens(['abc'], 'a \ud83e')).toBe('a \ud83e');
  });

  it('the redactor shows no part of a token, wherever a text is truncated', () => {
    const secret = 'mF_9.B5f-4+M~/top==';
    const text = `before ${secret} after ${encodeURIComponent(secret)}`;
    for (let length = 0; length < text.length; length += 1) {
      const redacted = truncateAndRedact([secret], text, length);
      expect(redacted.replaceAll(/before|after|\*\*\*| /g, '')).toBe('');
    }
  });

  it('the redactor truncates a text to 4096 characters, so that it takes no time', () => {
    expect(redactTokens(['abc'], 'x '.repeat(450_000))).toBe('x '.repeat(2048));
    expect(redactTokens(['abc'], 'x'.repeat(4096))).toBe('x'.repeat(4096));
    expect(redactTokens(['abc'], 'x'.repeat(4097))).toBe('***');
  });

  it.each([
    'Bearer abc',
    'abc',
    '"abc"',
    '{"token":"abc"}',
    '?token=abc&other',
    'the token abc.',
    '(abc), or else',
    'abc-',
    '/abc/',
    '_abc_',
    'abc==',
    'user:abc@host',
    '%22abc%22',
    '%2522abc%2522',
    '\\u0022abc\\u0022',
    '\\u201cabc\\u201d',
    '\\nabc\\n',
    '\\\\tabc\\\\r',
    '&quot;abc&#34;',
    'x\nabc\ny',
    'éabcé',
  ])('the redactor finds a token of three characters that is a word of its own: %j', (text) => {
    expect(createRedactor(['abc'])(text)).not.toContain('abc');
    expect(createRedactor(['abc'])(text)).toContain('***');
  });

  it('the redactor does not find a token of fewer than 8 characters in other words', () => {
    for (const text of ['abcd', 'xabc', '1abc', 'abc1', 'ABC', 'ab', 'xabcx xabc abcx'])
      expect(createRedactor(['abc'])(text)).toBe(text);
    expect(createRedactor(['e'])('no response: connect ECONNREFUSED 127.0.0.1:3000')).toBe(
      'no response: connect ECONNREFUSED 127.0.0.1:3000',
    );
    expect(createRedactor(['abcdefg'])('xabcdefg abcdefg')).toBe('xabcdefg ***');
    expect(createRedactor(['abcdefgh'])('xabcdefgh')).toBe('***');
  });

  it.each(['a.c', 'a+c', 'abcdefg.i', 'abcdefg+i'])(
    'the redactor reads no character of the token %s as a pattern',
    (secret) => {
      expect(createRedactor([secret])('abc a-c a/c ac aac abcdefghi abcdefgggi')).toBe(
        'abc a-c a/c ac aac abcdefghi abcdefgggi',
      );
      expect(createRedactor([secret])(secret)).toBe('***');
    },
  );

  it('the redactor changes nothing without a token', () => {
    expect(createRedactor([])('any text')).toBe('any text');
  });
});
