import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bearerTokenOf } from './request-head.ts';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/';

const b64token = fc
  .tuple(fc.string({ unit: fc.constantFrom(...letters.split('')), minLength: 1 }), fc.nat(3))
  .map(([text, signs]) => text + '='.repeat(signs));

const scheme = fc
  .tuple(...'bearer'.split('').map((letter) => fc.constantFrom(letter, letter.toUpperCase())))
  .map((chosen) => chosen.join(''));

const spaces = fc.integer({ min: 1, max: 20 }).map((count) => ' '.repeat(count));

/** Parses a field by the grammar of RFC 6750 §2.1, one character at a time. */
const grammarTokenOf = (field: string): string | undefined => {
  if (field.slice(0, 6).toLowerCase() !== 'bearer') return undefined;
  let start = 6;
  while (field[start] === ' ') start += 1;
  let end = start;
  while (end < field.length && letters.includes(field[end] ?? '?')) end += 1;
  const isEmpty = end === start;
  while (field[end] === '=') end += 1;
  return start === 6 || isEmpty || end < field.length ? undefined : field.slice(start);
};

describe('bearerTokenOf', () => {
  it('bearerTokenOf accepts exactly what the grammar of RFC 6750 accepts', () => {
    const unit = fc.constantFrom(...'bBeEaArR  \t\n=-,;:"A0~\u00e9\u212a\u017f\0'.split(''));
    const spoilt = fc
      .tuple(scheme, spaces, b64token, fc.nat(40), fc.string({ unit, maxLength: 2 }))
      .map(([name, gap, token, at, piece]) => {
        const field = name + gap + token;
        return field.slice(0, at) + piece + field.slice(at);
      });
    const valid = fc.tuple(scheme, spaces, b64token).map((parts) => parts.join(''));
    const any = fc.oneof(valid, spoilt, fc.string({ unit }), fc.string());
    fc.assert(
      fc.property(any, (field) => {
        expect(bearerTokenOf(field)).toBe(grammarTokenOf(field));
      }),
      { numRuns: 2000 },
    );
  });

  it('bearerTokenOf does not time out on very long fields', () => {
    const long = 1_000_000;
    for (const field of [
      `Bearer${' '.repeat(long)}`,
      `Bearer ${'='.repeat(long)}`,
      `Bearer ${'a='.repeat(long)}`,
      `Bearer ${'a'.repeat(long)}!`,
      'Bearer '.repeat(long),
    ]) {
      expect(bearerTokenOf(field)).toBeUndefined();
    }
  });
});
