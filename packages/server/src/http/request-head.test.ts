import { describe, expect, it } from 'vitest';
import { readHead } from './request-head.ts';

describe('head of a request', () => {
  it('the head of a request has its request line, the number of its fields, and the fields that the service reads', () => {
    const head = readHead('POST', '/plants?x', '1.1', ['Host', 'a', 'X-Other', 'b', 'ORIGIN', 'c']);
    expect(head).toMatchObject({ method: 'POST', target: '/plants?x', httpVersion: '1.1' });
    expect(head).toMatchObject({ fieldCount: 3, repeated: undefined, host: 'a', origin: 'c' });
  });

  it.each([
    ['Content-Encoding', 'contentEncoding', 'a, b'],
    ['Transfer-Encoding', 'transferEncoding', 'a, b'],
    ['Expect', 'expect', 'a, b'],
    ['X-Forwarded-For', 'forwardedFor', 'a, b'],
    ['Upgrade', 'upgrade', 'a, b'],
    ['Origin', 'origin', ''],
    ['X-Request-Id', 'requestId', ''],
    ['Host', 'repeated', 'host'],
    ['Authorization', 'repeated', 'authorization'],
    ['Content-Type', 'repeated', 'content-type'],
    ['Content-Length', 'repeated', 'content-length'],
  ])('the head of a request with two %s fields has %s: "%s"', (name, field, value) => {
    const rawHeaders = [name, 'a', name.toLowerCase(), 'b', 'X-Other', 'c'];
    const head = readHead('POST', '/plants', '1.1', rawHeaders);
    expect(head).toMatchObject({ repeated: undefined, [field]: value });
  });
});
