import { describe, expect, it } from 'vitest';
import { errorTable } from '@plantstore/core/errors';
import { readHead } from '../http/request-head.ts';
import { closesAfter } from './closes-after.ts';

const limit = 100;
const headWith = (...fields: string[]) => readHead('POST', '/plants', '1.1', fields);
const small = headWith('Content-Length', '100');
const large = headWith('Content-Length', '101');
const chunked = headWith('Transfer-Encoding', 'chunked');
const { error: framing } = errorTable['bad-request'];
const { error: tooManyFields } = errorTable['headers-too-large'];
const { error: pathUnknown } = errorTable['path-unknown'];

describe('end of a connection', () => {
  it.each([
    ['to a request of which a part of the body is read', small, 'a part', pathUnknown],
    ['to a request whose body is above the limit', large, 'nothing', pathUnknown],
    ['to a request whose body has no declared length', chunked, 'nothing', pathUnknown],
    ['to invalid framing', small, 'nothing', framing],
    ['to too many fields', small, 'nothing', tooManyFields],
    ['to an upgrade', headWith('Upgrade', 'h2c'), 'everything', undefined],
    ['to TRACE', readHead('TRACE', '/plants', '1.1', []), 'everything', undefined],
    ['to a target of a proxy', readHead('GET', 'http://a/', '1.1', []), 'everything', undefined],
  ] as const)('a connection ends after a response %s', (_, head, bodyRead, error) => {
    expect(closesAfter(head, bodyRead, limit, error)).toBe(true);
  });

  it.each([
    ['to a request whose body is read', large, 'everything', undefined],
    ['to an invalid body that is read', chunked, 'everything', framing],
    ['to a request with a small unread body', small, 'nothing', pathUnknown],
    ['to a request without a body', headWith(), 'nothing', pathUnknown],
  ] as const)('a connection stays open after a response %s', (_, head, bodyRead, error) => {
    expect(closesAfter(head, bodyRead, limit, error)).toBe(false);
  });
});
