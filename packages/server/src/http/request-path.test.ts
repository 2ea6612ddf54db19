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

/** Returns the bytes of the path by RFC 3986 §2.1 and §3.3, without a URL parser. */
const bytesOf = (target: string): Buffer | undefined => {
  const lower = target.toLowerCase();
  const scheme = ['http://', 'https://'].find((prefix) => lower.startsWith(prefix));
  let rest = target;
  if (scheme !== undefined) {
    const end = target.slice(scheme.length).search(/[/?#]|$/);
    if (end > 0) rest = target.slice(scheme.length + end);
  }
  const path = rest.includes('?') ? rest.slice(0, rest.indexOf('?')) : rest;
  if (!path.startsWith('/')) return undefined;
  const bytes: number[] = [];
  for (let at = 0; at < path.length; at += 1) {
    if (path[at] !== '%') bytes.push(path.charCodeAt(at));
    else if (/^[\dA-Fa-f]{2}$/.test(path.slice(at + 1, at + 3))) {
      bytes.push(Number.parseInt(path.slice(at + 1, at + 3), 16));
      at += 2;
    } else return undefined;
  }
  return Buffer.from(bytes);
};

const isUtf8 = (bytes: Buffer): boolean => Buffer.from(bytes.toString()).equals(bytes);

describe('shownPath', () => {
  it.each([
    ['/plants?token=s3cret', '/plants'],
    ['/plants#s3cret', '/plants'],
    ['http://ada:s3cret@a/plants?x', '/plants'],
    ['/%70lants', '/%70lants'],
    ['*', '*'],
    ['a:443', undefined],
  ])('shownPath leaves secrets out of %s', (target, shown) => {
    expect(shownPath(target)).toBe(shown);
  });
});

describe('pathOf', () => {
  it('pathOf returns the same path for every percent-encoding, authority and query', () => {
    fc.assert(
      fc.property(authority, plants, query, (before, path, after) => {
        expect(pathOf(before + path + after)).toBe('/plants');
      }),
    );
  });

  it('pathOf keeps a URL in the path unchanged', () => {
    expect(pathOf('/from/http://a/plants')).toBe('/from/http://a/plants');
  });

  it('pathOf decodes percent-encoded bytes as UTF-8, for any target, and never throws', () => {
    const unit = fc.constantFrom(...'plants//..;?#%%%2570Ff0aAcCeEdD:@*http'.split(''));
    const near = fc
      .tuple(authority, plants, fc.nat(20), fc.string({ unit, maxLength: 4 }))
      .map(([before, path, at, piece]) => before + path.slice(0, at) + piece + path.slice(at));
    fc.assert(
      fc.property(fc.oneof(near, fc.string({ unit })), (target) => {
        const bytes = bytesOf(target);
        const expected = bytes !== undefined && isUtf8(bytes) ? bytes.toString() : undefined;
        expect(pathOf(target)).toBe(expected);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('base path', () => {
  it('a base path that is accepted equals the decoded path of its URL', () => {
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

  it.each(['/.well-known', '/..a', '/a..', '/a.', '/...'])(
    'a base path is accepted if it is %s',
    (basePath) => {
      expect(normalizeBasePath(basePath)).toBe(basePath);
    },
  );

  it.each([
    'garden',
    '//garden',
    '/a//b',
    '/.',
    '/..',
    '/a/./b',
    '/a/../b',
    '/a?b',
    '/a#b',
    '/%',
    '/a\\b',
    '/a\nb',
    '/{a',
    '/a}',
    '/a\x7f',
  ])('a base path is rejected if it is %s', (basePath) => {
    expect(normalizeBasePath(basePath)).toBeUndefined();
  });
});
