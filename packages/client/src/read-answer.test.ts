import { describe, expect, it } from 'vitest';
import { token } from '../test/fixtures.ts';
import { createCall } from './call.ts';
import { readAnswer } from './read-answer.ts';

const longest = 200_000;

const readBytes = (status: number, body: Uint8Array, limit = longest) => {
  const call = createCall(token);
  call.attempts = 1;
  call.response = { status, headers: undefined };
  return readAnswer(call, { status, body, longest: limit });
};

const read = (status: number, body: string) =>
  readBytes(status, new TextEncoder().encode(body)).match<unknown>(
    (plant) => plant,
    (error) => error,
  );

describe('readAnswer', () => {
  it.each([
    ['{"name":"Monstera"}', { name: 'Monstera' }],
    ['{"name":"","tag":""}', { name: '', tag: '' }],
    ['{"name":"a","tag":"b","id":7,"__proto__":{"tag":7}}', { name: 'a', tag: 'b' }],
    [`{"name":"${token}"}`, { name: token }],
  ])('reads the plant %s and drops what it does not know', (body, plant) => {
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
  ])('calls a 200 that is no plant invalid and keeps its raw body (number %#)', (body) => {
    expect(read(200, body)).toEqual({
      kind: 'response-invalid',
      message: 'unexpected response with status 200',
      status: 200,
      body,
      attempts: 1,
    });
  });

  it('calls an answer invalid that is not UTF-8', () => {
    const body = Uint8Array.from([...new TextEncoder().encode('{"name":"'), 0xff, 0x22, 0x7d]);
    expect(readBytes(200, body)).toMatchObject({
      error: { kind: 'response-invalid', body: '{"name":"\ufffd"}' },
    });
  });

  it('judges nothing that comes after the cut', () => {
    const plant = '{"name":"Monstera"}';
    const body = new TextEncoder().encode(`${plant} and more`);
    const readUpTo = (bytes: number) => readBytes(200, body, bytes);
    expect(readUpTo(plant.length).unwrapOr(undefined)).toEqual({ name: 'Monstera' });
    expect(readUpTo(plant.length - 1)).toMatchObject({ error: { body: '{"name":"Monstera"' } });
    expect(readUpTo(body.length)).toMatchObject({ error: { body: `${plant} and more` } });
  });

  it('reads no member from a prototype', () => {
    Object.assign(Object.prototype, { name: 'polluted' });
    const answer = read(200, '{}');
    Reflect.deleteProperty(Object.prototype, 'name');
    expect(answer).toMatchObject({ kind: 'response-invalid' });
  });

  it.each([
    [400, 1401, 'id-taken'],
    [401, 2402, 'token-rejected'],
    [503, 3503, 'unavailable'],
    [400, 2402, 'token-rejected'],
    [418, 9999, 'unknown'],
    [400, -(2 ** 31), 'unknown'],
    [400, 2 ** 31 - 1, 'unknown'],
  ])('calls status %i with error %i refused: %s', (status, error, name) => {
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

  it.each(noErrors)('calls a 400 with the body %s invalid', (body) => {
    expect(read(400, body)).toMatchObject({ kind: 'response-invalid', status: 400, body });
  });

  it.each(noErrors)('calls a 500 with the body %s unexpected', (body) => {
    expect(read(500, body)).toMatchObject({ kind: 'unexpected-status', status: 500, body });
  });

  it.each([0, 201, 204, 301, 302, 399])('expects no status %i, whatever its body', (status) => {
    for (const body of ['', '{"name":"a"}', '{"error":1401,"message":"a"}'])
      expect(read(status, body)).toMatchObject({ kind: 'unexpected-status', status, body });
  });

  it('strikes the token out of messages and raw bodies', () => {
    const echo = `Bearer ${token}`;
    expect(read(400, JSON.stringify({ error: 1, message: echo }))).toMatchObject({
      message: 'Bearer ***',
    });
    expect(read(200, echo)).toMatchObject({ body: 'Bearer ***' });
    expect(read(502, echo)).toMatchObject({ body: 'Bearer ***' });
  });
});
