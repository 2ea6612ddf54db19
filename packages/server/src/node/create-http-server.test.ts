import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { connectRaw, parseResponses, sendRaw } from '@plantstore/test-support/raw-http';
import { ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { chunked, goodFields, head, listen, plant, post, responses } from '../../test/listen.ts';

describe('the HTTP server', () => {
  it('the HTTP server creates a plant', async () => {
    const { port } = await listen();
    const { status, headers, body } = await sendRaw(port, post(7));
    expect({ status, body }).toEqual({ status: 200, body: '{"name":"Monstera"}' });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '19',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      date: expect.stringMatching(/GMT$/) as unknown,
    });
  });

  it.each(['é', '🪴'])('the HTTP server responds with the name %s in UTF-8', async (name) => {
    const { port } = await listen();
    const body = Buffer.from(`{"id":7,"name":"${name}"}`);
    const request = Buffer.concat([
      Buffer.from(head([...goodFields, `Content-Length: ${body.length}`])),
      body,
    ]);
    const response = await sendRaw(port, request);
    expect(Buffer.from(response.body, 'latin1').toString()).toBe(`{"name":"${name}"}`);
  });

  it('the HTTP server accepts a chunked body', async () => {
    const { port } = await listen();
    expect((await sendRaw(port, chunked('{"id":7,', '"name":"x"}'))).status).toBe(200);
  });

  it('the HTTP server keeps the connection open after a response, also after an error', async () => {
    const { port } = await listen();
    const { socket, until } = await connectRaw(port);
    const requests = [
      post(7),
      head(['Host: x'], 'GET / HTTP/1.1'),
      head([...goodFields.slice(0, 1), 'Content-Length: 3']) + 'abc',
      post(8),
    ];
    for (const [index, bytes] of requests.entries()) {
      socket.write(bytes);
      await until(responses(index + 1));
    }
    expect(parseResponses(await until(responses(4))).map(({ status }) => status)).toEqual([
      200, 404, 401, 200,
    ]);
    socket.destroy();
  });

  it('the HTTP server responds to pipelined requests in order, independent of how long each takes', async () => {
    const inner = createMemoryRepository();
    const repository: PlantRepository = {
      create: (newPlant) =>
        ResultAsync.fromSafePromise(
          new Promise((resolve) => {
            setTimeout(resolve, newPlant.id === 1n ? 50 : 0);
          }),
        ).andThen(() => inner.create(newPlant)),
    };
    const { port } = await listen({ repository });
    const { socket, until } = await connectRaw(port);
    socket.write(
      post(1) + post(2) + head(['Host: x'], 'GET /plants HTTP/1.1') + 'BREW / HTTP/1.1\r\n\r\n',
    );
    const received = parseResponses(await until(responses(4))).map(({ status }) => status);
    expect(received).toEqual([200, 200, 405, 400]);
    socket.destroy();
  });
});

describe('Expect: 100-continue', () => {
  const expecting = (fields: readonly string[]) =>
    head([...fields, 'Expect: 100-continue', `Content-Length: ${plant(7).length}`]);

  it('a request with Expect: 100-continue gets 100 Continue and then the response if the head is admitted', async () => {
    const { port } = await listen();
    const { socket, until } = await connectRaw(port);
    socket.write(expecting(goodFields));
    expect(await until((text) => text.includes('\r\n\r\n'))).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(plant(7));
    const received = parseResponses(await until(responses(2)));
    expect(received.map(({ status }) => status)).toEqual([100, 200]);
    socket.destroy();
  });

  it.each([
    [[100, 200], 'Expect: 100-continue, ,100-continue'],
    [[200], 'Expect:'],
    [[200], 'Expect: ,'],
    [[417], 'Expect: 100-continue, x'],
  ])('the responses %j follow a request with the field %j', async (statuses, field) => {
    const { port } = await listen();
    const { socket, until } = await connectRaw(port);
    socket.write(head([...goodFields, field, `Content-Length: ${plant(7).length}`]));
    if (statuses[0] === 100) await until((text) => text.includes('\r\n\r\n'));
    socket.write(plant(7));
    const received = parseResponses(await until(responses(statuses.length)));
    expect(received.map(({ status }) => status)).toEqual(statuses);
    socket.destroy();
  });

  it.each([
    [401, ['Host: a', 'Content-Type: application/json']],
    [401, ['Host: a', 'Authorization: Bearer bad', 'Content-Type: application/json']],
    [415, ['Host: a', 'Authorization: Bearer good']],
  ])(
    'a refused request with Expect: 100-continue gets %i without 100 Continue, and the connection is closed',
    async (status, fields) => {
      const { port } = await listen();
      const { socket, until } = await connectRaw(port);
      socket.write(expecting(fields));
      const received = parseResponses(await until(responses(1)));
      expect(received).toMatchObject([{ status, headers: { connection: 'close' } }]);
      socket.destroy();
    },
  );

  it('a request with Expect: 100-continue gets no 100 Continue without Content-Length and Transfer-Encoding', async () => {
    const { port } = await listen();
    const { socket, ended } = await connectRaw(port);
    socket.write(head([...goodFields, 'Expect: 100-continue']));
    expect(parseResponses(await ended)).toMatchObject([{ status: 400 }]);
    socket.destroy();
  });

  it.each(['Content-Length: 0', 'Content-Length: 000'])(
    'a request with Expect: 100-continue gets no 100 Continue if the body is empty: %s',
    async (length) => {
      const { port } = await listen();
      const { socket, ended } = await connectRaw(port);
      // The second request is not HTTP; the connection has ended before it.
      socket.write(
        `${head([...goodFields, 'Expect: 100-continue', length])}POST\t/ HTTP/1.1\r\n\r\n`,
      );
      expect(parseResponses(await ended)).toMatchObject([
        { status: 400, headers: { connection: 'close' } },
      ]);
      socket.destroy();
    },
  );
});

describe('requests after a response with Connection: close', () => {
  it.each([
    ['an unwanted chunked body', head(['Host: a', 'Transfer-Encoding: chunked']) + '0\r\n\r\n'],
    [
      'an upgrade',
      head([
        ...goodFields,
        'Connection: Upgrade',
        'Upgrade: h2c',
        `Content-Length: ${plant(1).length}`,
      ]) + plant(1),
    ],
  ])('requests after a response with Connection: close are not served: %s', async (_, first) => {
    const inner = createMemoryRepository();
    const created: bigint[] = [];
    const repository: PlantRepository = {
      create: (newPlant) => {
        created.push(newPlant.id);
        return inner.create(newPlant);
      },
    };
    const { port } = await listen({ repository });
    const { socket, ended } = await connectRaw(port);
    socket.write(first + post(2));
    const received = parseResponses(await ended);
    expect(received).toHaveLength(1);
    expect(received[0]?.headers).toMatchObject({ connection: 'close' });
    expect(created).not.toContain(2n);
    socket.destroy();
  });

  it('requests after a response with Connection: close are dropped if a client pipelines without limit and does not read', async () => {
    const { port } = await listen();
    const { socket, ended } = await connectRaw(port);
    socket.pause();
    const get = 'GET /plants HTTP/1.1\r\nHost: a\r\n\r\n';
    for (let sent = 0; sent < 20 && !socket.destroyed; sent += 1) socket.write(get.repeat(1000));
    socket.resume();
    const received = parseResponses(await ended);
    expect(received.length).toBeLessThan(20_000);
    socket.destroy();
    expect((await sendRaw(port, post(8))).status).toBe(200);
  });

  it('a response with Connection: close is never followed by another one to a request whose body never arrives', async () => {
    const { port } = await listen({ requestTimeoutMs: 200 });
    const { socket, ended } = await connectRaw(port);
    socket.write(head(['Host: a', 'Content-Length: 900']));
    expect(parseResponses(await ended)).toMatchObject([{ status: 401 }]);
    socket.destroy();
  });
});
