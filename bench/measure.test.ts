import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { check } from './check.ts';
import { startAsked, startChild } from './child.ts';
import { baseline } from './contenders.ts';
import type { LoadOptions, LoadResult } from './load.ts';
import { type Contender, measure } from './measure.ts';
import { token } from './token.ts';

const load = { connections: 4, seconds: 0.3, warmUpSeconds: 0 };

/** Serves until the test is over, and puts the load on it. */
const putLoadOn = async (listener: RequestListener, more: Partial<LoadOptions> = {}) => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const options: LoadOptions = { ...load, port, ids: 'random', ...more };
  const generator = startChild('load.ts', [JSON.stringify(options)], { core: 'any' });
  onTestFinished(async () => {
    await generator.stop();
    server.close();
    server.closeAllConnections();
  });
  return generator;
};

/** A contender that is a program of these lines. */
const contenderOf = async (name: string, program: string): Promise<Contender> => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-bench-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const file = join(folder, 'program.mjs');
  await writeFile(file, program);
  return { name, group: 'peer', ids: 'random', program: async () => ({ file }) };
};

it('the load sends unique plants with a token, and counts their answers', async () => {
  const received: { readonly id: number; readonly authorization: string | undefined }[] = [];
  const generator = await putLoadOn(async (request, response) => {
    const { id } = (await json(request)) as { readonly id: number };
    received.push({ id, authorization: request.headers.authorization });
    // Slow enough that what is in flight when counting begins is a plant a connection.
    setTimeout(() => response.setHeader('Content-Length', 2).end('{}'), 20);
  });
  expect(await generator.next()).toBe('began');
  expect(await generator.next()).toBe('ended');
  const { answers, perSecond } = (await generator.next()) as LoadResult;
  const ids = received.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !Number.isSafeInteger(id))).toEqual([]);
  expect(new Set(received.map(({ authorization }) => authorization))).toEqual(
    new Set([`Bearer ${token}`]),
  );
  expect(answers).toBeLessThanOrEqual(received.length);
  expect(answers).toBeGreaterThanOrEqual(received.length - 2 * load.connections);
  // A timer may be a millisecond early.
  expect(perSecond).toBeLessThan((answers / load.seconds) * 1.05);
});

it('connections that only warm up are gone before anything counts', async () => {
  let inFlight = 0;
  let most = 0;
  const generator = await putLoadOn(
    (request, response) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      request.resume();
      setTimeout(() => {
        inFlight -= 1;
        response.setHeader('Content-Length', 2).end('{}');
      }, 20);
    },
    { connections: 2, warmUpConnections: 6, warmUpSeconds: 0.2 },
  );
  expect(await generator.next()).toBe('began');
  expect(most).toBe(6);
  most = 0;
  expect(await generator.next()).toBe('ended');
  expect(most).toBeLessThanOrEqual(2);
});

it.each([
  [400, { 'Content-Length': 2 }, 'an answer was not 200: HTTP/1.1 400'],
  [202, { 'Content-Length': 2 }, 'an answer was not 200: HTTP/1.1 202'],
  [200, { 'Transfer-Encoding': 'chunked' }, 'an answer had no Content-Length: HTTP/1.1 200'],
])('the load fails on an answer of %i with %j, and says so', async (status, headers, words) => {
  let count = 0;
  const generator = await putLoadOn((request, response) => {
    count += 1;
    request.resume();
    if (count === 10) response.writeHead(status, headers).end('{}');
    else response.writeHead(200, { 'Content-Length': 2 }).end('{}');
  });
  const everything = async () => {
    for (;;) await generator.next();
  };
  await expect(everything()).rejects.toThrow(words);
});

it('messages wait for whoever asks for them, even when their sender is gone', async () => {
  const { program } = await contenderOf('', `for (const word of 'abc') process.send(word);`);
  const { file } = await program(0);
  const child = startChild(file, [], { core: 'any' });
  expect(await child.ended).toContain('exit status 0');
  expect([await child.next(), await child.next(), await child.next()]).toEqual(['a', 'b', 'c']);
  await expect(child.next()).rejects.toThrow('exit status 0');
});

it('a program that ends instead of answering is told with what it wrote', async () => {
  const { program } = await contenderOf(
    '',
    `process.on('message', ({ ask }) => {
       if (ask === 'well') return process.send('well');
       process.stderr.write('no idea', () => process.exit(2));
     });`,
  );
  const { file } = await program(0);
  const { ask, stop } = startAsked(file);
  onTestFinished(stop);
  expect(await ask({ ask: 'well' })).toBe('well');
  await expect(ask({ ask: 'otherwise' })).rejects.toThrow('exit status 2: no idea');
});

it('a server is measured: answers, their latency, and its own CPU time', async () => {
  const { answers, latency, cpuPerRequest } = await measure(baseline, load);
  expect(answers).toBeGreaterThan(0);
  expect(latency.p50).toBeGreaterThan(0);
  expect(latency.p999).toBeGreaterThanOrEqual(latency.p50);
  expect(cpuPerRequest).toBeGreaterThan(0);
});

it('a server that ends is told with its name, its exit status and what it wrote', async () => {
  const contender = await contenderOf(
    'the broken one',
    `process.stderr.write('no such store'); process.exitCode = 3;`,
  );
  await expect(measure(contender, load)).rejects.toThrow(
    /^the broken one: .*exit status 3: no such store/,
  );
});

it('a server that ends under load is told likewise', async () => {
  const contender = await contenderOf(
    'the tired one',
    `import { createServer } from 'node:http';
     createServer(() => { throw new Error('too tired'); }).listen(Number(process.env.PORT), '127.0.0.1');`,
  );
  await expect(measure(contender, load)).rejects.toThrow(
    /^the tired one: [^]*exit status 1: [^]*too tired/,
  );
});

it('a contender that does another job is not measured, and what it does otherwise is told', async () => {
  await expect(check(baseline)).rejects.toThrow(
    /^bare node:http: .*another plant under its id was answered 200.*without a token was answered 200/,
  );
});
