import { describe, expect, it } from 'vitest';
import { isHostValid, maxHeaderFields, readHead } from './request-head.ts';
import { admissionOf } from '../../test/services.ts';

const repeat = (name: string) =>
  readHead('POST', '/plants', '1.1', [name, 'a', name.toLowerCase(), 'b', 'X-Other', 'c']);

describe('head of a request', () => {
  it('the head of a request has its request line, the number of its fields, and the fields that the service reads', () => {
    const head = readHead('POST', '/plants?x', '1.1', ['Host', 'a', 'X-Other', 'b', 'ORIGIN', 'c']);
    expect(head).toMatchObject({ method: 'POST', target: '/plants?x', httpVersion: '1.1' });
    expect(head).toMatchObject({ fieldCount: 3, repeated: undefined, host: 'a', origin: 'c' });
  });

  it.each([
    ['Content-Encoding', 'contentEncoding'],
    ['Transfer-Encoding', 'transferEncoding'],
    ['Expect', 'expect'],
    ['X-Forwarded-For', 'forwardedFor'],
    ['Upgrade', 'upgrade'],
  ])('the head of a request has the values of repeated %s fields as a list', (name, field) => {
    expect(repeat(name)).toMatchObject({ [field]: 'a, b', repeated: undefined });
  });

  it.each([
    ['Origin', 'origin'],
    ['X-Request-Id', 'requestId'],
  ])('the head of a request has an empty %s if that is repeated', (name, field) => {
    expect(repeat(name)).toMatchObject({ [field]: '', repeated: undefined });
  });

  it.each(['Host', 'Authorization', 'Content-Type', 'Content-Length'])(
    'the head of a request names %s if it is repeated',
    (name) => {
      expect(repeat(name).repeated).toBe(name.toLowerCase());
    },
  );

  it('the head of a request has at most 200 fields', async () => {
    const others = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${index}`, 'x']));
    expect(maxHeaderFields).toBe(200);
    // A valid request has four fields.
    expect(await admissionOf(others(196))).toBe('admitted');
    expect(await admissionOf(others(197))).toBe('headers-too-large');
  });
});

describe('Host field', () => {
  it.each([
    'a',
    'plants.example',
    'a:80',
    'a:',
    'a:65535',
    'a:00080',
    '192.0.2.1:3000',
    '[::1]',
    '[2001:DB8::1]:80',
    '[::ffff:192.0.2.1]',
    '[1:2:3:4:5:6:7:8]',
    '[1:2:3:4:5:6:7::]',
    '[::]',
    "a-_~!$&'()*+,;=",
    'a%2Fb',
  ])('a Host field is valid: %s', (host) => {
    expect(isHostValid(host, '1.1')).toBe(true);
    expect(isHostValid(host, '1.0')).toBe(true);
  });

  it.each([
    '',
    ':80',
    'a:b',
    'a:80b',
    'a:65536',
    'a:99999',
    'a:80:90',
    '[::1',
    '[]',
    '[g]',
    '[12345::1]',
    '[192.0.2.1]',
    '[1::2::3]',
    '[1:2:3:4:5:6:7]',
    '[1:2:3:4:5:6:7:8:9]',
    '[::192.0.2]',
    '[:1]',
    '[::1]x',
    'x[::1]',
    'a%2',
    'a%gg',
    'a b',
    ' a',
    'a ',
    'user@a',
    'a/b',
  ])('a Host field is invalid each time: "%s"', (host) => {
    expect(isHostValid(host, '1.1')).toBe(false);
    expect(isHostValid(host, '1.1')).toBe(false);
  });

  it('a Host field may be absent only in HTTP/1.0', () => {
    expect(isHostValid(undefined, '1.0')).toBe(true);
    expect(isHostValid(undefined, '1.1')).toBe(false);
  });
});
