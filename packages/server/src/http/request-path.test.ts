import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodePath, normalizeBasePath, pathOf, shownPath } from './request-head.ts';

const encoded = (letter: string): string[] => {
  const digits = letter.charCodeAt(0).toString(16).padStart(2, '0');
  return [`%${digits}`, `%${digits.toUpperCase()}`];
};

/** `/plants` with any characters percent-encoded except the first slash. */
const plants = fc
  .tuple(...'plants'.split('').map((letter) => fc.constantFrom(letter, ...encoded(letter))))
  .map((letters) => `/${letters.join('')}`);

const authority = fc.constantFrom('', 'http://a', 'HTTPS://[::1]:3000', 'http://u@elsewhere');
const query = fc.oneof(
  fc.constant(''),
  fc.string({ unit: 'grapheme-ascii' }).map((text) => `?${text}`),
);

describe('pathOf', () => {
  it('pathOf returns the same path for every percent-encoding, authority and query', () => {
    fc.assert(
      fc.property(authority, plants, query, (before, path, after) => {
        expect(pathOf(before + path + after)).toBe('/plants');
      }),
    );
  });

  it('pathOf returns the decoded path of the URL of any base path', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const basePath = normalizeBasePath(`/${text}`);
        fc.pre(basePath !== undefined);
        const path = `${basePath}/plants`;
        expect(pathOf(encodePath(path))).toBe(path);
        expect(pathOf(new URL(encodePath(path), 'http://a').pathname)).toBe(path);
      }),
      { numRuns: 2000 },
    );
  });
});

it.each([
  ['/plants?token=s3cret', '/plants'],
  ['/plants#s3cret', '/plants'],
  ['http://ada:s3cret@a/plants?x', '/plants'],
  ['/%70lants', '/%70lants'],
  ['a:443', undefined],
])('shownPath leaves secrets out of %s', (target, shown) => {
  expect(shownPath(target)).toBe(shown);
});
