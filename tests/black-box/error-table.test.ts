import { join } from 'node:path';
import type { PlantRepository } from '@plantstore/core';
import { type ErrorName, errorTable } from '@plantstore/core/errors';
import { optionRules, startServer } from '@plantstore/server';
import { openSqliteRepository } from '@plantstore/sqlite';
import { type RawResponse, sendRaw } from '@plantstore/test-support/raw-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { undeclaredHeaders } from './declared-headers.ts';
import { type Cleanup, newFolder, type RunningProgram, startProgram, token } from './program.ts';

const raw = (line: string, fields: Readonly<Record<string, string>>, body: string | Uint8Array) => {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${line}\r\n${lines.join('')}\r\n`), Buffer.from(body)]);
};

const post = (body: string | Uint8Array, change: Readonly<Record<string, string>> = {}) => {
  const fields = {
    Host: 'localhost',
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    ...change,
  };
  return raw('POST /plants HTTP/1.1', fields, body);
};

const plant = '{"id":7,"name":"Monstera"}';

/** Sends a request to an embedded server, for errors that the program cannot be made to report. */
const sendTo = async (repository: PlantRepository, cleanup: Cleanup): Promise<RawResponse> => {
  const authenticate = () => true;
  const started = await startServer({ repository, authenticate, port: 0 });
  if (started.isErr()) throw new Error(started.error.message);
  cleanup(async () => started.value.close());
  return sendRaw(Number(new URL(started.value.url).port), post(plant));
};

const closedStore = async (cleanup: Cleanup) => {
  const path = join(await newFolder(cleanup), 'plants.db');
  const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  await repository.close();
  return repository;
};

const brokenStore: PlantRepository = {
  create() {
    throw new Error('a bug');
  },
};

/** A request for each error of the table: bytes for the program, or a call with an embedded server. */
const requests: Readonly<
  Record<ErrorName, Uint8Array | ((cleanup: Cleanup) => Promise<RawResponse>)>
> = {
  'bad-request': raw('POST /plants HTTP/1.1', {}, ''),
  'body-missing': post(''),
  'json-malformed': post('{"id":7'),
  'encoding-invalid': post(Uint8Array.of(0x22, 0xff, 0x22)),
  'body-not-object': post('[]'),
  'id-required': post('{"name":"Monstera"}'),
  'id-not-integer': post('{"id":1.0000000000000000001,"name":"Monstera"}'),
  'id-out-of-range': post('{"id":9223372036854775808,"name":"Monstera"}'),
  'name-required': post('{"id":7}'),
  'name-not-text': post('{"id":7,"name":"\\ud800"}'),
  'tag-not-text': post('{"id":7,"name":"Monstera","tag":null}'),
  'id-taken': post('{"id":1,"name":"another"}'),
  unauthenticated: post(plant, { Authorization: 'Basic eDp5' }),
  'token-rejected': post(plant, { Authorization: 'Bearer another' }),
  'path-unknown': raw('POST /plants/ HTTP/1.1', { Host: 'localhost' }, ''),
  'method-not-allowed': raw('GET /plants HTTP/1.1', { Host: 'localhost' }, ''),
  async 'request-timeout'(cleanup) {
    const args = ['--headers-timeout-ms', '100'];
    const { port } = await startProgram({ args }, cleanup);
    return sendRaw(port, Buffer.from('POST /plants HTTP/1.1\r\nHost: loc'));
  },
  'body-too-large': post('', {
    'Content-Length': String(optionRules.maxBodyBytes.default + 1),
  }),
  'media-type-unsupported': post(plant, { 'Content-Type': 'text/plain' }),
  'expectation-failed': post(plant, { Expect: 'unknown' }),
  'headers-too-large': post(plant, { Cookie: 'x'.repeat(17_000) }),
  'not-implemented': raw(
    'POST /plants HTTP/1.1',
    { Host: 'localhost', 'Transfer-Encoding': 'gzip' },
    '',
  ),
  internal: async (cleanup) => sendTo(brokenStore, cleanup),
  unavailable: async (cleanup) => sendTo(await closedStore(cleanup), cleanup),
};

const always = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** Further headers of an error. */
const furtherHeaders: Partial<Record<ErrorName, Readonly<Record<string, string>>>> = {
  unauthenticated: { 'www-authenticate': 'Bearer realm="plantstore"' },
  'token-rejected': { 'www-authenticate': 'Bearer realm="plantstore", error="invalid_token"' },
  'method-not-allowed': { allow: 'POST' },
  'body-too-large': { connection: 'close' },
  'media-type-unsupported': { accept: 'application/json' },
  unavailable: { 'retry-after': '1' },
};

describe('the real server', () => {
  let server: RunningProgram | undefined;
  let stop = async () => {};
  beforeAll(async () => {
    server = await startProgram({}, (task) => {
      stop = task;
    });
  });
  afterAll(async () => stop());
  const port = () => server?.port ?? 0;

  it.concurrent.for(Object.entries(requests))(
    'the real server responds to %s as in the error table',
    async ([key, request], test) => {
      const name = key as ErrorName;
      test.expect((await sendRaw(port(), post('{"id":1,"name":"Monstera"}'))).status).toBe(200);
      const response =
        request instanceof Uint8Array
          ? await sendRaw(port(), request)
          : await request(test.onTestFinished);
      const { status, error } = errorTable[name];
      test.expect(response.status).toBe(status);
      test.expect(response.headers).toMatchObject({
        ...always,
        date: test.expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/),
        'content-length': String(response.body.length),
        ...furtherHeaders[name],
      });
      // A POST never gets a 405, so that openapi.json does not have it.
      const undeclared = status === 405 ? [] : undeclaredHeaders(status, response.headers);
      test.expect(undeclared).toEqual([]);
      test.expect(Object.entries(JSON.parse(response.body) as object)).toEqual([
        ['error', error],
        ['message', test.expect.stringMatching(/^[a-zA-Z]/)],
      ]);
    },
  );

  it('the real server responds to a plant with the documented headers and no other member', async () => {
    const { status, headers, body } = await sendRaw(
      port(),
      post('{"id":2,"name":"Monstera","tag":"","x":1}'),
    );
    expect({ status, body }).toEqual({ status: 200, body: '{"name":"Monstera","tag":""}' });
    expect(headers).toMatchObject({ ...always, 'content-length': String(body.length) });
    expect(undeclaredHeaders(status, headers)).toEqual([]);
  });
});

it('--insecure-http-parser of Node does not let a body have two lengths', async () => {
  const { port } = await startProgram({ nodeArgs: ['--insecure-http-parser'] });
  const chunked = { 'Transfer-Encoding': 'chunked' };
  const body = `${plant.length.toString(16)}\r\n${plant}\r\n0\r\n\r\n`;
  expect(await sendRaw(port, post(body, chunked))).toMatchObject({
    status: 400,
    body: expect.stringContaining('"error":1000') as unknown,
  });
});
