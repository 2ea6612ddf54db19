import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { startChild } from './child.ts';
import { baseline } from './contenders.ts';
import type { LoadOptions, LoadResult } from './load.ts';
import { measureServer, type Server, verifyServer } from './server.ts';
import { token } from './token.ts';

const load = { connections: 4, seconds: 0.3, warmUpSeconds: 0 };

/** Starts a server for the test, and a load generator for it. */
const putLoadOn = async (listener: RequestListener, seconds = load.seconds) => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const options: LoadOptions = { ...load, seconds, port, ids: 'random' };
  const generator = startChild('load.ts', [JSON.stringify(options)]);
  onTestFinished(async () => {
    await generator.stop();
    server.close();
    server.closeAllConnections();
  });
  return generator;
};

/** Creates a server, or another program, from its source. */
const serverOf = async (source: string): Promise<Server> => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-bench-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const file = join(folder, 'program.mjs');
  await writeFile(file, source);
  return { name: 'broken', ids: 'random', program: () => ({ file }) };
};

it('the load generator sends unique plants with a token and counts their responses', async () => {
  const received: { readonly id: number; readonly authorization: string | undefined }[] = [];
  const counting = Promise.withResolvers<void>();
  const generator = await putLoadOn(async (request, response) => {
    const { id } = (await json(request)) as { readonly id: number };
    received.push({ id, authorization: request.headers.authorization });
    await counting.promise;
    response.setHeader('Content-Length', 2).end('{}');
  });
  expect(await generator.next()).toBe('began');
  counting.resolve();
  expect(await generator.next()).toBe('ended');
  const { responses } = (await generator.next()) as LoadResult;
  const ids = received.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !Number.isSafeInteger(id))).toEqual([]);
  expect(new Set(received.map(({ authorization }) => authorization))).toEqual(
    new Set([`Bearer ${token}`]),
  );
  expect(responses).toBeLessThanOrEqual(received.length);
  // The last response of each connection arrives after the counted seconds.
  expect(responses).toBeGreaterThanOrEqual(received.length - load.connections);
});

it.each([
  [400, { 'Content-Length': 2 }],
  [202, { 'Content-Length': 2 }],
  [200, { 'Transfer-Encoding': 'chunked' }],
])('the load generator fails on a response of %i with %j', async (status, headers) => {
  let count = 0;
  const generator = await putLoadOn((request, response) => {
    count += 1;
    request.resume();
    if (count === 10) response.writeHead(status, headers).end('{}');
    else response.writeHead(200, { 'Content-Length': 2 }).end('{}');
    // It fails long before.
  }, 60);
  const readAll = async () => {
    for (;;) await generator.next();
  };
  await expect(readAll()).rejects.toThrow(
    `a response was not 200 with a Content-Length: HTTP/1.1 ${status}`,
  );
});

it.each([
  [
    'before it listens',
    `process.stderr.write('no such store'); process.exitCode = 3;`,
    /^broken: .*exit status 3: no such store/,
  ],
  [
    'under load',
    `import { createServer } from 'node:http';
     createServer(() => { throw new Error('simulated error'); }).listen(Number(process.env.PORT), '127.0.0.1');`,
    /^broken: [^]*exit status 1: [^]*simulated error/,
  ],
])(
  'the benchmark reports a server that exits %s with its name, status and output',
  async (_, source, message) => {
    await expect(measureServer(await serverOf(source), load)).rejects.toThrow(message);
  },
);

it('the benchmark rejects a server that does not implement the operation', async () => {
  await expect(verifyServer(baseline)).rejects.toThrow(
    /^bare node:http: .*the response to another plant with its id was 200.*without a token was 200/,
  );
});
