import { cp } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { newFolder } from '../black-box/program.ts';
import { latest, npm } from './installations.ts';
import { runIn } from './run-in.ts';

const dependencies = {
  '@codegenie/serverless-express': '4.17.1',
  '@fastify/aws-lambda': '6.4.1',
  '@opentelemetry/api': '1.9.1',
  '@opentelemetry/instrumentation-http': '0.223.0',
  '@opentelemetry/sdk-trace-node': '2.12.1',
  '@sentry/node': '11.12.0',
  fastify: '5.12.8',
  'light-my-request': '6.8.1',
  neverthrow: '8.2.0',
  'node-mocks-http': '1.18.1',
  'serverless-http': '4.0.0',
};

const folder = await newFolder(afterAll);

beforeAll(async () => {
  await npm(folder, inject('release').registry, { ...latest, ...dependencies });
  await cp(fileURLToPath(new URL('instrumented', import.meta.url)), folder, { recursive: true });
}, 300_000);

const run = async (program: string) =>
  (await runIn(folder, process.execPath, [program])).stdout.trim().split('\n');

/** The calls of the app for three pipelined requests, each with the number of its own request. */
const calls = [1, 2, 3].flatMap((id) =>
  ['authenticate', 'repository', 'log line'].map((what) => `${what} of ${id} as ${id}`),
);

it('Sentry reports the events of pipelined requests and of a timer for their own users', async () => {
  expect((await run('use-sentry.mjs')).toSorted()).toEqual(
    [...calls, 'timer as undefined'].toSorted(),
  );
});

it('OpenTelemetry has what an app does for pipelined requests in the traces of these requests', async () => {
  expect((await run('use-opentelemetry.mjs')).toSorted()).toEqual(calls.toSorted());
});

it.each([
  'serverless-http',
  '@codegenie/serverless-express',
  'fastify',
  '@fastify/aws-lambda',
  'light-my-request',
  'node-mocks-http',
])('a request that %s simulates creates a plant, and is logged as written', async (adapter) => {
  const line = `${adapter}: 200 {"name":"Monstera"} content-type request 200`;
  expect(await run('use-adapters.mjs')).toContain(line);
});
