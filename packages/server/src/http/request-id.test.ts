import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { silent } from './logger.ts';
import { readHead } from './request-head.ts';
import { RequestRecord } from './request-record.ts';

const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/;
const source = { logger: silent, clientAddressOf: () => undefined };
const idOf = (rawHeaders: readonly string[]) =>
  new RequestRecord(source, readHead('POST', '/plants', '1.1', rawHeaders)).id;
const signs = 'ABCXYZabcxyz0189._~+/=:-';

describe('request id', () => {
  it('the request id is the X-Request-Id of the request if that is well-formed', () => {
    const given = fc.string({
      unit: fc.constantFrom(...signs.split('')),
      minLength: 1,
      maxLength: 128,
    });
    fc.assert(
      fc.property(given, (id) => {
        expect(idOf(['Host', 'a', 'x-request-ID', id])).toBe(id);
      }),
    );
  });

  it.each<[string, readonly string[]]>([
    ['the request has none', []],
    ['it is empty', ['X-Request-Id', '']],
    ['it is too long', ['X-Request-Id', 'x'.repeat(129)]],
    ['it has a space', ['X-Request-Id', 'a b']],
    ['it has a quote', ['X-Request-Id', 'a"b']],
    ['it has a line break', ['X-Request-Id', 'a\n']],
    ['it is not ASCII', ['X-Request-Id', 'é']],
    ['there are two', ['X-Request-Id', 'a', 'X-Request-Id', 'a']],
  ])('the request id is generated, unique for each request, if %s', (_, rawHeaders) => {
    const made = idOf(rawHeaders);
    expect(made).toMatch(uuid);
    expect(idOf(rawHeaders)).not.toBe(made);
  });
});
