import { parseResponses } from '@plantstore/test-support/raw-http';
import { describe, expect, it } from 'vitest';
import {
  chunked,
  goodFields,
  head,
  open,
  plant,
  post,
  recordPlants,
  responses,
  responsesTo,
  statusesOf,
} from '../../test/listen.ts';

describe('the HTTP server', () => {
  it.each(['é', '🪴'])('the HTTP server responds with the name %s in UTF-8', async (name) => {
    const { socket, until } = await open();
    const body = Buffer.from(`{"id":7,"name":"${name}"}`);
    socket.write(head([...goodFields, `Content-Length: ${body.length}`]));
    socket.write(body);
    const received = Buffer.from(await until(responses(1)), 'latin1').toString();
    expect(received).toMatch(new RegExp(`\r\n\r\n{"name":"${name}"}$`));
  });

  it('the HTTP server keeps the connection open after a response, also after an error', async () => {
    const { socket, until } = await open();
    const requests = [
      post(7),
      head(['Host: x'], 'GET / HTTP/1.1'),
      head(['Host: x', 'Content-Length: 3']) + 'abc',
      chunked('{"id":8,', '"name":"x"}'),
    ];
    for (const [index, bytes] of requests.entries()) {
      socket.write(bytes);
      await until(responses(index + 1));
    }
    expect(statusesOf(await until(responses(4)))).toEqual([200, 404, 401, 200]);
  });
});

describe('Expect: 100-continue', () => {
  const length = `Content-Length: ${plant(7).length}`;

  it.each([
    [[100, 200], 'Expect: 100-continue'],
    [[100, 200], 'Expect: 100-continue, ,100-continue'],
    [[200], 'Expect: ,'],
  ])('the responses %j follow a request with the field %j', async (statuses, field) => {
    const { socket, until } = await open();
    socket.write(head([...goodFields, field, length]));
    if (statuses[0] === 100) await until((text) => text.endsWith('100 Continue\r\n\r\n'));
    socket.write(plant(7));
    expect(statusesOf(await until(responses(statuses.length)))).toEqual(statuses);
  });

  it.each<[number, readonly string[], string?]>([
    [404, ['Host: a'], 'POST /elsewhere HTTP/1.1'],
    [405, ['Host: a'], 'GET /plants HTTP/1.1'],
    [401, ['Host: a']],
    [401, ['Host: a', 'Authorization: Bearer bad']],
    [413, [...goodFields, 'Content-Length: 1001']],
    [415, ['Host: a', 'Authorization: Bearer good']],
    // No body follows.
    [400, goodFields],
    [400, [...goodFields, 'Content-Length: 000']],
  ])(
    'a request with Expect: 100-continue that is not wanted gets %i from the head alone, and its connection is closed',
    async (status, fields, line) => {
      const { socket, until, ended } = await open();
      // The body may or may not follow, so that what follows is not read.
      socket.write(`${head([...fields, 'Expect: 100-continue'], line)}<hello>\r\n\r\n`);
      await until(responses(1));
      socket.end();
      expect(parseResponses(await ended)).toMatchObject([
        { status, headers: { connection: 'close' } },
      ]);
    },
  );
});

describe('requests after a response with Connection: close', () => {
  it.each([
    ['an unwanted chunked body', head(['Host: a', 'Transfer-Encoding: chunked']) + '0\r\n\r\n'],
    ['an upgrade', post(1).replace('Host', 'Connection: Upgrade\r\nUpgrade: h2c\r\nHost')],
  ])('requests after a response with Connection: close are not served: %s', async (_, first) => {
    const { repository, created } = recordPlants();
    const received = await responsesTo(first + post(2), { repository });
    expect(received).toMatchObject([{ headers: { connection: 'close' } }]);
    expect(created).not.toContain(2n);
  });

  it('a response with Connection: close is never followed by another one to a request whose body never arrives', async () => {
    const bytes = head(['Host: a', 'Content-Length: 900']);
    expect(await responsesTo(bytes, { requestTimeoutMs: 200 })).toMatchObject([{ status: 401 }]);
  });
});
