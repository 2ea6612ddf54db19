import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactorOf } from './redactor.ts';

describe('the redactor', () => {
  it.each([
    ['JSON', 'abc\\/def+ghi=='],
    ['JSON of another kind', 'abc\\u002fdef\\u002Bghi\\u003d\\u003D'],
    ['a URL', 'abc%2Fdef%2bghi%3D%3D'],
    ['HTML', 'abc&#x2F;def&#43;ghi&#61;='],
    ['nothing', 'abc/def+ghi=='],
  ])('finds a token that %s has escaped', (_, escaped) => {
    expect(redactorOf(['abc/def+ghi=='])(`before ${escaped} after`)).toBe('before *** after');
  });

  it.each([
    ['a URL in a URL', 'abc%252Fdef%252bghi%253D%253D'],
    ['JSON in a URL', 'abc%5C%2Fdef%2Bghi%3D%3D'],
    ['a URL in a URL in HTML', 'abc&#37;252Fdef&#x2B;ghi=='],
  ])('finds a token that %s has escaped, beside one that was escaped once', (_, escaped) => {
    const redact = redactorOf(['abc/def+ghi==']);
    expect(redact(escaped)).toBe('***');
    expect(redact(`abc%2Fdef+ghi==, 5%25 ${escaped}`)).toBe('***, 5%25 ***');
  });

  it('shows no token by undoing the escapes of another', () => {
    expect(redactorOf(['longer/token', 'short/t'])('longer%252Ftoken short%2Ft')).toBe('*** ***');
  });

  it('finds a token of any length, whatever of it is escaped, and leaves no part of it', () => {
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
        const shown = secret.map((character, place) =>
          escapes[(place * (seed + place)) % ways]?.(character),
        );
        const told = redactorOf([secret.join('')])(`before ${shown.join('')} after`);
        expect(told).toBe('before *** after');
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    ['has its token nowhere, but nearly everywhere', `${'x'.repeat(3_999)}!`.repeat(250)],
    ['is nothing but escapes', '%78'.repeat(333_333)],
    ['is nothing but backslashes', '\\'.repeat(1_000_000)],
    ['is one escape without end', `&#x${'0'.repeat(1_000_000)}`],
    ['is nothing but words', 'x '.repeat(500_000)],
    ['is nothing but words escaped again and again', '%25252578 '.repeat(100_000)],
  ])('takes no long time for a text that %s', (_, text) => {
    const start = performance.now();
    redactorOf(['x'.repeat(4_000), `y${'x'.repeat(15_999)}`])(text);
    // Were it the product of the lengths, it would be minutes.
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it('replaces every token of a call, also one that is a part of another', () => {
    expect(redactorOf(['abc', 'abcdef'])('abc, abcdef, ab')).toBe('***, ***, ab');
  });

  it('leaves no part of tokens that overlap', () => {
    expect(redactorOf(['abcd', 'cdef'])('abcdef, cdefabcd')).toBe('***, ***');
  });

  it('replaces the whole word that a token is in, and nothing else', () => {
    expect(redactorOf(['abc'])('?a=1&token=abcd%20 {"token":"abc","n":"50%25"} <b>abc</b>')).toBe(
      '?*** {"token":"***","n":"50%25"} <b>***</b>',
    );
  });

  it.each([
    ['as it is', 'mF_9.B5f-4.1JqM~'],
    ['escaped', 'mF%5F9%2EB5f%2D4%2E1JqM%7E'],
  ])('finds the first 16 characters of a token that something else has cut off, %s', (_, part) => {
    expect(redactorOf(['mF_9.B5f-4.1JqM~top+secret/0=='])(`Bearer ${part}...`)).toBe('Bearer ***');
  });

  it('replaces the last word of a text that is cut off, where it ends with one', () => {
    const redact = redactorOf(['abc']);
    expect(redact('one two', true)).toBe('one ***');
    expect(redact('one two', false)).toBe('one two');
    expect(redact('one two "', true)).toBe('one two "');
    expect(redact('', true)).toBe('');
  });

  it('leaves what is no token as it is', () => {
    expect(redactorOf(['a.c'])('abc a-c a/c')).toBe('abc a-c a/c');
  });
});
