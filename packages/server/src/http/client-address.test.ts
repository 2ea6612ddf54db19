import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createClientAddressOf } from './client-address.ts';

const trustedProxies = ['10.0.0.0/8', '192.0.2.7', '2001:db8:1::/48'];
const clientOf = (peer: string, forwardedFor?: string): string | undefined =>
  createClientAddressOf(trustedProxies)(peer, { forwardedFor });

describe('address of a client', () => {
  it.each([
    ['198.51.100.1', '198.51.100.1'],
    ['::ffff:198.51.100.1', '198.51.100.1'],
    ['2001:db8:2::1', '2001:db8:2::1'],
    ['::ffff:c633:6401', '::ffff:c633:6401'],
    ['2001:db8::198.51.100.1', '2001:db8::198.51.100.1'],
  ])(
    'the address of a client on a connection from %s is %s, also if it sends X-Forwarded-For',
    (peer, client) => {
      expect(clientOf(peer, '203.0.113.1')).toBe(client);
      expect(createClientAddressOf([])(peer, { forwardedFor: '203.0.113.1' })).toBe(client);
    },
  );

  it.each(['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.7', '2001:db8:1::5'])(
    'the address of a client is the one that the proxy %s names',
    (peer) => {
      expect(clientOf(peer, '203.0.113.1')).toBe('203.0.113.1');
    },
  );

  it.each([
    ['203.0.113.1', '203.0.113.1'],
    [' 203.0.113.1\t', '203.0.113.1'],
    ['203.0.113.1:4711', '203.0.113.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['198.51.100.9, 203.0.113.1', '203.0.113.1'],
    ['198.51.100.9, 203.0.113.1, 10.0.0.2, 192.0.2.7', '203.0.113.1'],
    ['10.0.0.3, 10.0.0.2', '10.0.0.3'],
    // What the nearest proxy wrote cannot be read, and the rest may be invented.
    ['203.0.113.1, unknown', '10.1.2.3'],
    ['203.0.113.1,', '10.1.2.3'],
    ['203.0.113.1, 10.0.0.2, 300.0.0.1, 10.0.0.4', '10.0.0.4'],
    ['203.0.113.1 10.0.0.2', '10.1.2.3'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['203.0.113.1:80x', '10.1.2.3'],
    ['x203.0.113.1', '10.1.2.3'],
    ['x@203.0.113.1', '10.1.2.3'],
    ['203.0.113.1/x', '10.1.2.3'],
    ['0x7f.1', '10.1.2.3'],
    ['1234', '10.1.2.3'],
    ['[2001:db8::1', '10.1.2.3'],
    ['', '10.1.2.3'],
  ])('the address of a client with the X-Forwarded-For %j is %s', (field, client) => {
    expect(clientOf('10.1.2.3', field)).toBe(client);
  });

  it('the address of a client on a Unix socket is the one that a proxy names, if unix is trusted', () => {
    const clientAddressOf = createClientAddressOf(['10.0.0.0/8', 'unix']);
    expect(createClientAddressOf(trustedProxies)('10.1.2.3')).toBe('10.1.2.3');
    const named = { forwardedFor: '198.51.100.9, 203.0.113.1, 10.0.0.2' };
    expect(createClientAddressOf(trustedProxies)(undefined, named)).toBeUndefined();
    expect(clientAddressOf(undefined, named)).toBe('203.0.113.1');
    expect(clientAddressOf(undefined)).toBeUndefined();
    expect(clientAddressOf('198.51.100.1', named)).toBe('198.51.100.1');
  });

  it('the address of a client is never one that precedes the address that the proxy names', () => {
    const forged = fc.string({ unit: fc.constantFrom(...'",;[]:.1 \\'.split('')) });
    fc.assert(
      fc.property(forged, (invented) => {
        expect(clientOf('10.1.2.3', `${invented}, 203.0.113.1`)).toBe('203.0.113.1');
      }),
    );
  });
});
