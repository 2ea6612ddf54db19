import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it, onTestFinished } from 'vitest';
import { baseline } from './contenders.ts';
import { runLoad, token } from './load.ts';
import { measureServer, verifyServer } from './measure.ts';
import { files, type Results, stringifyResults } from './report.ts';
import { runRounds } from './rounds.ts';

const load = { connections: 4, seconds: 0.3, warmUpSeconds: 0 };

const putLoadOn = async (listener: RequestListener) => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return runLoad({ ...load, port: (server.address() as AddressInfo).port });
};

it('the load sends unique plants with a token and counts their responses', async () => {
  const ids = new Set<unknown>();
  const { perSecond } = await putLoadOn(async (request, response) => {
    const { id } = (await json(request)) as { readonly id: number };
    const isNew = Number.isSafeInteger(id) && ids.size < ids.add(id).size;
    const isAuthorized = request.headers.authorization === `Bearer ${token}`;
    response.writeHead(isNew && isAuthorized ? 200 : 400, { 'Content-Length': 2 }).end('{}');
  });
  expect(perSecond).toBeGreaterThan(0);
  // A timer of Node may end a millisecond early.
  expect(perSecond! * (load.seconds - 0.001)).toBeLessThanOrEqual(ids.size);
});

it('the load fails on a response other than 200', async () => {
  let count = 0;
  const failing = putLoadOn((request, response) => {
    count += 1;
    request.resume();
    response.writeHead(count === 10 ? 400 : 200, { 'Content-Length': 2 }).end('{}');
  });
  await expect(failing).rejects.toThrow('a response was not 200 with a Content-Length');
});

it('the benchmark reports a server that exits with its name, status and output', async () => {
  const file = join(await makeFolder(), 'program.mjs');
  await writeFile(file, `process.stderr.write('no such store'); process.exitCode = 3;`);
  const measured = measureServer({ name: 'broken', program: () => ({ file }) }, load);
  await expect(measured).rejects.toThrow(/^broken: .*exit status 3: no such store/);
});

it('the benchmark rejects a server that does not implement the operation', async () => {
  const fault = /^bare node:http: .*the response to another plant with its id was 200/;
  await expect(verifyServer(baseline)).rejects.toThrow(fault);
});

it('the benchmark relates each contender to the baseline before it, with the quartiles of the rounds', async () => {
  const results: Record<string, number[]> = { bare: [100, 300, 200], own: [100, 600, 100] };
  const measure = async ({ name = '' }) => ({ perSecond: results[name]?.shift() ?? 0 });
  const rows = await runRounds([{ name: 'bare' }, { name: 'own' }], 3, measure);
  expect(rows[0]?.figures['perSecond']).toEqual({ lower: 150, median: 200, upper: 250 });
  expect(rows[1]?.ratios['perSecond']).toEqual({ lower: 0.75, median: 1, upper: 1.5 });
});

const read = async (file: string): Promise<string> =>
  readFile(join(import.meta.dirname, '..', file), 'utf8');

it.each(Object.entries(files))('%s has the figures of results.json', async (file, write) => {
  const results = JSON.parse(await read('bench/results.json')) as Results;
  expect(await read('bench/results.json')).toBe(stringifyResults(results));
  const text = await read(file);
  expect(text, 'run pnpm bench report').toBe(await write(text, results));
  expect(text).not.toMatch(/NaN|Infinity|\[object|undefined/);
});
