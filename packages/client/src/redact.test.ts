import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maxTextLength, redact as redactTokens } from './redact.ts';

const createRedactor = (tokens: readonly string[]) => (text: string) => redactTokens(tokens, text);

const hexOf = (character: string) => character.charCodeAt(0).toString(16);

/** Redacts a text that is truncated to some characters. */
const truncateAndRedact = (tokens: readonly string[], text: string, length: number) =>
  redactTokens(tokens, ' '.repeat(maxTextLength - length) + text).slice(maxTextLength - length);

describe('redactor', () => {
  it.each([
    ['as it is', 'abc/def+ghi=='],
    ['percent-encoded', 'abc%2Fdef%2bghi%3D%3D'],
    ['in JSON of PHP', 'abc\\/def+ghi=='],
    ['in JSON of .NET', 'abc/def\\u002Bghi=='],
    ['in JSON with any character escaped', 'abc\\u002fdef\\u002Bghi\\u003d\\u003D'],
  ])('the redactor finds a token %s', (_, escaped) => {
    const redact = createRedactor(['abc/def+ghi==']);
    expect(redact(`before ${escaped} after`)).toBe('before *** after');
    expect(redact(`{"a":"${escaped}"}`)).toBe('{"a":"***"}');
  });

  it('the redactor redacts tokens that are escaped in different ways in one text', () => {
    const redact = createRedactor(['longer/token', 'short/t']);
    expect(redact('longer/token short%2Ft, 5%25, longer\\/token')).toBe('*** ***, 5%25, ***');
  });

  it.each<[string, (character: string) => string]>([
    ['percent-encoded', (character) => `%${hexOf(character)}`],
    ['with escapes of JSON', (character) => `\\u00${hexOf(character)}`],
  ])(
    'the redactor redacts the whole of a token of any length with any characters %s',
    (_, escape) => {
      const characters = fc.stringMatching(/^[A-Za-z._~+/-]$/);
      const tokens = fc.array(characters, { minLength: 40, maxLength: 600, size: 'max' });
      const isEscaped = fc.infiniteStream(fc.boolean());
      fc.assert(
        fc.property(tokens, isEscaped, (secret, escapes) => {
          const text = secret.map((character) =>
            escapes.next().value ? escape(character) : character,
          );
          const redacted = createRedactor([secret.join('')])(`before ${text.join('')} after`);
          expect(redacted).toBe('before *** after');
        }),
        { numRuns: 30 },
      );
    },
  );

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
    ).toBe('?a=1&*** {"token":"***","n":"50%25"} <b>***</b>');
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
    '\\u0022abc\\u0022',
    '\\u201cabc\\u201d',
    '\\nabc\\n',
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
