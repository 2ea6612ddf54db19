import { describe, expect, it } from 'vitest';
import { errorTable } from '@plantstore/core/errors';
import { readHead } from '../http/request-head.ts';
import { endsConnection } from './exchange.ts';

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
    ['to a request of which a part of the body is read', small, 'reading', pathUnknown],
    ['to a request whose body is above the limit', large, 'waiting', pathUnknown],
    ['to a request whose body has no declared length', chunked, 'waiting', pathUnknown],
    ['to invalid framing', small, 'waiting', framing],
    ['to too many fields', small, 'waiting', tooManyFields],
    ['to an upgrade', headWith('Upgrade', 'h2c'), 'storing', undefined],
    ['to TRACE', readHead('TRACE', '/plants', '1.1', []), 'storing', undefined],
    ['to a target of a proxy', readHead('GET', 'http://a/', '1.1', []), 'storing', undefined],
  ] as const)('a connection ends after a response %s', (_, head, phase, error) => {
    expect(endsConnection(head, phase, limit, error)).toBe(true);
  });

  it.each([
    ['to a request whose body is read', large, 'storing', undefined],
    ['to an invalid body that is read', chunked, 'storing', framing],
    ['to a request with a small unread body', small, 'waiting', pathUnknown],
    ['to a request without a body', headWith(), 'waiting', pathUnknown],
  ] as const)('a connection stays open after a response %s', (_, head, phase, error) => {
    expect(endsConnection(head, phase, limit, error)).toBe(false);
  });
});
