import { similarPlants } from '@plantstore/test-support/contract-plants';
import { describe, expect, it } from 'vitest';
import { token, untyped } from '../test/fixtures.ts';
import { outcomeOf } from './response.ts';
import { maxTextLength } from './redact.ts';

/** Returns the outcome for a response to the request with the JSON `sent`. */
const read = (status: number, text: string, sent = '{"id":7,"name":"Monstera"}') => {
  const call = { report: { attempts: 1, status }, tokens: [token] };
  const request = { url: 'https://plants.example/plants', body: sent };
  return outcomeOf(call, untyped({ status }), request, text).match<unknown>(
    (plant) => plant,
    (error) => error,
  );
};

describe('outcomeOf', () => {
  it.each([
    ['{"name":"Monstera"}', { name: 'Monstera' }],
    ['{"name":"","tag":""}', { name: '', tag: '' }],
    ['{"name":"a","tag":"b","id":7,"__proto__":{"tag":7}}', { name: 'a', tag: 'b' }],
    [`{"name":"${token}"}`, { name: token }],
  ])('outcomeOf returns the plant of %s without other members', (body, plant) => {
    expect(read(200, body, JSON.stringify({ id: 7, ...plant }))).toStrictEqual(plant);
  });

  it.each([
    ['name', '{"name":"Ficus"}', '{"id":7,"name":"Monstera"}'],
    ['name', '{"name":"monstera"}', '{"id":7,"name":"Monstera"}'],
    ['name', '{"name":"\u0065\u0301"}', '{"id":7,"name":"\u00e9"}'],
    ['tag', '{"name":"Monstera","tag":"b"}', '{"id":7,"name":"Monstera"}'],
    ['tag', '{"name":"Monstera","tag":""}', '{"id":7,"name":"Monstera"}'],
    ['tag', '{"name":"Monstera"}', '{"id":7,"name":"Monstera","tag":"b"}'],
    ['tag', '{"name":"Monstera"}', '{"id":7,"name":"Monstera","tag":""}'],
    ['tag', '{"name":"Monstera","tag":"a"}', '{"id":7,"name":"Monstera","tag":"b"}'],
    // A client without types may send these.
    ['name', '{"name":7}', '{"id":7,"name":7}'],
    ['tag', '{"name":"Monstera","tag":null}', '{"id":7,"name":"Monstera","tag":null}'],
    ['name', '{"name":"7"}', '{"id":7,"name":7}'],
    ['name', '{}', '{"id":7}'],
  ])(
    'outcomeOf returns response-invalid and names %s, for a 200 with %s after the request %s',
    (name, body, sent) => {
      expect(read(200, body, sent)).toEqual({
        kind: 'response-invalid',
        message: `unexpected response with status 200: its ${name} is not what was sent`,
        status: 200,
        body,
        attempts: 1,
      });
    },
  );

  it('outcomeOf compares the plant with the JSON that was sent, for every id', () => {
    for (const id of ['7', '-9223372036854775808', '9007199254740993', '0']) {
      expect(read(200, '{"name":"a"}', `{"id":${id},"name":"a"}`)).toEqual({ name: 'a' });
    }
  });

  it.each([
    ['nothing', ''],
    ['HTML', '<!doctype html>'],
    ['incomplete JSON', '{"name":"a"'],
    ['null', 'null'],
    ['a string', '"name"'],
    ['an array', '[]'],
    ['an empty object', '{}'],
    ['a plant without a name', '{"tag":"b"}'],
    ['a plant with a number as its name', '{"name":7}'],
    ['a plant with null as its tag', '{"name":"a","tag":null}'],
    ['a plant with a number as its tag', '{"name":"a","tag":7}'],
    ['an error', '{"error":1401,"message":"another plant has this id"}'],
    ['a plant with an object as its name', '{"name":{"valueOf":1,"toString":1}}'],
    ['4,000 brackets', '['.repeat(4_000)],
  ])('a 200 with %s is response-invalid, with the raw body', (_, body) => {
    expect(read(200, body)).toEqual({
      kind: 'response-invalid',
      message: expect.any(String) as unknown,
      status: 200,
      body,
      attempts: 1,
    });
  });

  it('the message of an unexpected response names its status', () => {
    expect(read(500, '{}')).toHaveProperty('message', 'unexpected response with status 500');
  });

  it('outcomeOf truncates the body of an error', () => {
    const longest = 'a '.repeat(maxTextLength / 2);
    expect(read(404, longest)).toMatchObject({ body: longest });
    expect(read(404, 'a '.repeat(2 ** 19))).toMatchObject({ body: longest });
    expect(read(200, 'a'.repeat(maxTextLength + 1))).toMatchObject({ body: '***' });
  });

  it('outcomeOf returns each plant that a store may confuse for itself, and response-invalid for the other', () => {
    for (const [one, other] of similarPlants) {
      const sent = JSON.stringify({ id: 7, ...one });
      expect(read(200, JSON.stringify(one), sent)).toStrictEqual(JSON.parse(JSON.stringify(one)));
      expect(read(200, JSON.stringify(other), sent)).toMatchObject({ kind: 'response-invalid' });
    }
  });

  it('outcomeOf copies no member of a body that is no plant, such as the characters of a text', () => {
    const fill = 'x'.repeat(2 ** 20);
    const timeOf = (body: string) => {
      const before = process.cpuUsage();
      read(200, body);
      return process.cpuUsage(before).user;
    };
    const best = (body: string) => Math.min(...Array.from({ length: 5 }, () => timeOf(body)));
    // In microseconds of CPU time. Copying takes about 200 times as long.
    expect(best(JSON.stringify(fill))).toBeLessThan(20 * best(JSON.stringify({ fill })) + 20_000);
  });

  it.each([
    [400, 1401, 'id-taken'],
    [401, 2402, 'token-rejected'],
    [503, 3503, 'unavailable'],
    [400, 2402, 'token-rejected'],
    [400, 4000, 'plant-refused'],
    [400, 4999, 'plant-refused'],
    [400, 3999, 'unknown'],
    [400, 5000, 'unknown'],
    [418, 9999, 'unknown'],
    [400, -(2 ** 31), 'unknown'],
    [400, 2 ** 31 - 1, 'unknown'],
  ])('outcomeOf returns refused for status %i with error %i: %s', (status, error, name) => {
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

  it.each(noErrors)('outcomeOf returns response-invalid for a 400 with the body %s', (body) => {
    expect(read(400, body)).toMatchObject({ kind: 'response-invalid', status: 400, body });
  });

  it.each(noErrors)('outcomeOf returns unexpected-status for a 500 with the body %s', (body) => {
    expect(read(500, body)).toMatchObject({ kind: 'unexpected-status', status: 500, body });
  });

  it.each([0, 201, 204, 301, 302, 399])(
    'outcomeOf returns unexpected-status for status %i with every body',
    (status) => {
      for (const body of ['', '{"name":"a"}', '{"error":1401,"message":"a"}'])
        expect(read(status, body, '{"id":7,"name":"a"}')).toMatchObject({
          kind: 'unexpected-status',
          status,
          body,
        });
    },
  );

  it('outcomeOf redacts the token in messages and raw bodies', () => {
    const echo = `Bearer ${token}`;
    expect(read(400, JSON.stringify({ error: 1, message: echo }))).toMatchObject({
      message: 'Bearer ***',
    });
    expect(read(200, echo)).toMatchObject({ body: 'Bearer ***' });
    expect(read(502, echo)).toMatchObject({ body: 'Bearer ***' });
  });
});
