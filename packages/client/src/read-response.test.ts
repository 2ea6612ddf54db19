import { describe, expect, it } from 'vitest';
import { token } from '../test/fixtures.ts';
import { createCall } from './call.ts';
import { readResponse } from './read-response.ts';

const maxBytes = 200_000;

const readBytes = (status: number, body: Uint8Array, limit = maxBytes) => {
  const call = createCall(token);
  call.attempts = 1;
  call.response = { status, source: new Response() };
  return readResponse(call, status, body, limit);
};

const read = (status: number, body: string) =>
  readBytes(status, new TextEncoder().encode(body)).match<unknown>(
    (plant) => plant,
    (error) => error,
  );

describe('readResponse', () => {
  it.each([
    ['{"name":"Monstera"}', { name: 'Monstera' }],
    ['{"name":"","tag":""}', { name: '', tag: '' }],
    ['{"name":"a","tag":"b","id":7,"__proto__":{"tag":7}}', { name: 'a', tag: 'b' }],
    [`{"name":"${token}"}`, { name: token }],
  ])('returns the plant of %s without other members', (body, plant) => {
    expect(read(200, body)).toStrictEqual(plant);
  });

  it.each([
    '',
    '<!doctype html>',
    '{"name":"a"',
    'null',
    '"name"',
    '[]',
    '{}',
    '{"tag":"b"}',
    '{"name":7}',
    '{"name":"a","tag":null}',
    '{"name":"a","tag":7}',
    '{"error":1401,"message":"another plant has this id"}',
    '{"name":{"valueOf":1,"toString":1}}',
    '['.repeat(100_000),
  ])('returns response-invalid with the raw body for a 200 without a plant (number %#)', (body) => {
    expect(read(200, body)).toEqual({
      kind: 'response-invalid',
      message: 'unexpected response with status 200',
      status: 200,
      body,
      attempts: 1,
    });
  });

  it('returns response-invalid for a body that is not UTF-8', () => {
    const body = Uint8Array.from([...new TextEncoder().encode('{"name":"'), 0xff, 0x22, 0x7d]);
    expect(readBytes(200, body)).toMatchObject({
      error: { kind: 'response-invalid', body: '{"name":"\ufffd"}' },
    });
  });

  it('ignores the bytes after maxBytes', () => {
    const plant = '{"name":"Monstera"}';
    const body = new TextEncoder().encode(`${plant} and more`);
    const readUpTo = (bytes: number) => readBytes(200, body, bytes);
    expect(readUpTo(plant.length).unwrapOr(undefined)).toEqual({ name: 'Monstera' });
    expect(readUpTo(plant.length - 1)).toMatchObject({ error: { body: '{"name":"Monstera"' } });
    expect(readUpTo(body.length)).toMatchObject({ error: { body: `${plant} and more` } });
  });

  it('reads no member from a prototype', () => {
    Object.assign(Object.prototype, { name: 'polluted' });
    const result = read(200, '{}');
    Reflect.deleteProperty(Object.prototype, 'name');
    expect(result).toMatchObject({ kind: 'response-invalid' });
  });

  it.each([
    [400, 1401, 'id-taken'],
    [401, 2402, 'token-rejected'],
    [503, 3503, 'unavailable'],
    [400, 2402, 'token-rejected'],
    [418, 9999, 'unknown'],
    [400, -(2 ** 31), 'unknown'],
    [400, 2 ** 31 - 1, 'unknown'],
  ])('returns refused for status %i with error %i: %s', (status, error, name) => {
    const body = JSON.stringify({ error, message: 'because', more: true });
    expect(read(status, body)).toEqual({
      kind: 'refused',
      name,
      error,
      message: 'because',
      status,
      attempts: 1,
    });
  });

  const noErrors = [
    '',
    '<h1>Bad</h1>',
    'null',
    '[1401,"a"]',
    '{"error":1401}',
    '{"message":"a"}',
    '{"error":"1401","message":"a"}',
    '{"error":1401,"message":7}',
    '{"error":1.5,"message":"a"}',
    '{"error":2147483648,"message":"a"}',
    '{"error":-2147483649,"message":"a"}',
    '{"error":1e999,"message":"a"}',
    '{"error":{"valueOf":1,"toString":1},"message":"a"}',
  ];

  it.each(noErrors)('returns response-invalid for a 400 with the body %s', (body) => {
    expect(read(400, body)).toMatchObject({ kind: 'response-invalid', status: 400, body });
  });

  it.each(noErrors)('returns unexpected-status for a 500 with the body %s', (body) => {
    expect(read(500, body)).toMatchObject({ kind: 'unexpected-status', status: 500, body });
  });

  it.each([0, 201, 204, 301, 302, 399])(
    'returns unexpected-status for status %i with every body',
    (status) => {
      for (const body of ['', '{"name":"a"}', '{"error":1401,"message":"a"}'])
        expect(read(status, body)).toMatchObject({ kind: 'unexpected-status', status, body });
    },
  );

  it('redacts the token in messages and raw bodies', () => {
    const echo = `Bearer ${token}`;
    expect(read(400, JSON.stringify({ error: 1, message: echo }))).toMatchObject({
      message: 'Bearer ***',
    });
    expect(read(200, echo)).toMatchObject({ body: 'Bearer ***' });
    expect(read(502, echo)).toMatchObject({ body: 'Bearer ***' });
  });
});
