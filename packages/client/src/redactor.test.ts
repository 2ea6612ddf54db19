import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redact as redactTokens } from './redactor.ts';

const createRedactor = (tokens: readonly string[]) => (text: string, isTruncated?: boolean) =>
  redactTokens(tokens, text, isTruncated);

describe('the redactor', () => {
  it.each([
    ['JSON', 'abc\\/def+ghi=='],
    ['JSON with \\u escapes', 'abc\\u002fdef\\u002Bghi\\u003d\\u003D'],
    ['a URL', 'abc%2Fdef%2bghi%3D%3D'],
    ['HTML', 'abc&#x2F;def&#43;ghi&#61;='],
    ['HTML without semicolons', 'abc&#x2Fdef&#43ghi&#61='],
    ['nothing', 'abc/def+ghi=='],
  ])('finds a token escaped by %s', (_, escaped) => {
    expect(createRedactor(['abc/def+ghi=='])(`before ${escaped} after`)).toBe('before *** after');
  });

  it.each([
    ['a URL in a URL', 'abc%252Fdef%252bghi%253D%253D'],
    ['JSON in a URL', 'abc%5C%2Fdef%2Bghi%3D%3D'],
    ['a URL in a URL in HTML', 'abc&#37;252Fdef&#x2B;ghi=='],
  ])('finds a token escaped by %s, next to one that was escaped once', (_, escaped) => {
    const redact = createRedactor(['abc/def+ghi==']);
    expect(redact(escaped)).toBe('***');
    expect(redact(`abc%2Fdef+ghi==, 5%25 ${escaped}`)).toBe('***, 5%25 ***');
  });

  it('redacts tokens with different layers of escapes in one text', () => {
    expect(createRedactor(['longer/token', 'short/t'])('longer%252Ftoken short%2Ft')).toBe(
      '*** ***',
    );
  });

  it('redacts the whole of a token of any length with any characters escaped', () => {
    const characters = fc.stringMatching(/^[A-Za-z._~+/-]$/);
    const tokens = fc.array(characters, { minLength: 40, maxLength: 16_000, size: 'max' });
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

  it.each([
    ['nearly contains the token in many places', `${'x'.repeat(3_999)}!`.repeat(250)],
    ['consists of escapes', '%78'.repeat(333_333)],
    ['consists of backslashes', '\\'.repeat(1_000_000)],
    ['is a single long escape', `&#x${'0'.repeat(1_000_000)}`],
    ['consists of words', 'x '.repeat(500_000)],
    ['consists of words with many layers of escapes', '%25252578 '.repeat(100_000)],
  ])('takes linear time for a text that %s', (_, text) => {
    const before = process.cpuUsage();
    createRedactor(['x'.repeat(4_000), `y${'x'.repeat(15_999)}`])(text);
    // In microseconds. Time in proportion to the product of the lengths would be minutes.
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
  });

  it('redacts every token of a call, also one that is part of another', () => {
    expect(createRedactor(['abc', 'abcdef'])('abc, abcdef, ab')).toBe('***, ***, ab');
  });

  it('redacts overlapping tokens completely', () => {
    expect(createRedactor(['abcd', 'cdef'])('abcdef, cdefabcd')).toBe('***, ***');
  });

  it('redacts the whole word that contains a token, and no other word', () => {
    expect(
      createRedactor(['abc'])('?a=1&token=abcd%20 {"token":"abc","n":"50%25"} <b>abc</b>'),
    ).toBe('?*** {"token":"***","n":"50%25"} <b>***</b>');
  });

  it.each([
    ['plain', 'mF_9.B5f-4.1JqM~'],
    ['escaped', 'mF%5F9%2EB5f%2D4%2E1JqM%7E'],
  ])('finds the first 16 characters of a truncated token, %s', (_, part) => {
    expect(createRedactor(['mF_9.B5f-4.1JqM~top+secret/0=='])(`Bearer ${part}...`)).toBe(
      'Bearer ***',
    );
  });

  it('redacts the last word of a truncated text that ends with a word', () => {
    const redact = createRedactor(['abc']);
    expect(redact('one two', true)).toBe('one ***');
    expect(redact('one two', false)).toBe('one two');
    expect(redact('one two "', true)).toBe('one two "');
    expect(redact('', true)).toBe('');
  });

  it('does not search for the short base64 of a token of up to four characters', () => {
    expect(createRedactor(['abc', 'abcd'])('wordYWJjword wordYWJjZword')).toBe(
      'wordYWJjword wordYWJjZword',
    );
    expect(createRedactor(['abcde'])('wordYWJjZGword')).toBe('***');
  });

  it('does not change words without a token', () => {
    expect(createRedactor(['a.c'])('abc a-c a/c')).toBe('abc a-c a/c');
  });
});
