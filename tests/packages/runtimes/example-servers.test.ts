import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectRaw, parseResponses } from '@plantstore/test-support/raw-http';
import { build } from 'tsup';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Cleanup, spawnProgram, untilOutput } from '../../black-box/program.ts';

type Command = [string, ...string[]];

const token = 's3cret';
const { app, tools } = inject('release');
const runtime = (name: string): string => join(tools, 'node_modules/.bin', name);

/** Bundles a program for workerd, writes its configuration, and returns the command to start it. */
const onWorkerd = async (program: string, config: string): Promise<Command> => {
  const outDir = await mkdtemp(join(app, 'worker-'));
  const entry = { worker: join(app, program) };
  const forWorkerd = { format: ['esm' as const], platform: 'neutral' as const, target: 'es2022' };
  await build({ config: false, silent: true, entry, noExternal: [/./], outDir, ...forWorkerd });
  await writeFile(join(outDir, 'workerd.capnp'), config);
  const flags = ['--socket-addr=http=127.0.0.1:0', '--control-fd=1'];
  return [runtime('workerd'), 'serve', join(outDir, 'workerd.capnp'), ...flags];
};

const exampleOnWorkerd = async (): Promise<Command> => {
  const file = fileURLToPath(new URL('../../../examples/servers/workerd.capnp', import.meta.url));
  const command = await onWorkerd('servers/workerd.ts', await readFile(file, 'utf8'));
  return [...command, `--directory-path=disk=${await mkdtemp(join(app, 'plants-'))}`];
};

/** Starts a server that prints its port, and returns the port. */
const start = async (command: Command, cleanup?: Cleanup): Promise<number> => {
  // Isolated from the user's configuration and caches.
  const env = { HOME: app, PORT: '0', PLANT_TOKEN: token };
  const server = spawnProgram({ command, cwd: app, env }, cleanup);
  const printed = /(?:port"?: ?|127\.0\.0\.1:)(\d+)/;
  let port = '';
  // Deno prints it on standard error.
  await untilOutput(server, (stdout, stderr) => {
    port = printed.exec(stdout + stderr)?.[1] ?? '';
    return port !== '';
  });
  return Number(port);
};

const json = 'Content-Type: application/json';

/** Sends the head of a request and its body, and returns the first response. */
const send = async (port: number, path: string, fields: readonly string[], body: string) => {
  const { socket, until } = await connectRaw(port);
  socket.write(`POST ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${body}`);
  const [response] = parseResponses(await until((text) => parseResponses(text).length > 0));
  socket.destroy();
  return response;
};

describe.each<[name: string, path: string, command: () => Promise<Command>]>([
  ['fetch.ts on Bun', '/garden/plants', async () => [runtime('bun'), 'servers/fetch.ts']],
  [
    'fetch.ts on Deno',
    '/garden/plants',
    async () => [
      runtime('deno'),
      ...'serve -A --host=127.0.0.1 --port=0 servers/fetch.ts'.split(' '),
    ],
  ],
  ['workerd.ts', '/plants', exampleOnWorkerd],
  ['express.ts', '/garden/plants', async () => [process.execPath, 'servers/express.ts']],
  ['fastify.ts', '/garden/plants', async () => [process.execPath, 'servers/fastify.ts']],
])('the example %s', (name, path, commandOf) => {
  let port = 0;
  let stop: () => unknown = () => {};
  beforeAll(async () => {
    port = await start(await commandOf(), (task) => {
      stop = task;
    });
  });
  afterAll(async () => stop());

  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const post = async (body: string | ReadableStream, more: RequestInit = {}) => {
    const url = `http://127.0.0.1:${port}${path}`;
    const response = await fetch(url, { method: 'POST', headers, body, duplex: 'half', ...more });
    const content = (await response.json()) as Record<string, unknown>;
    return { status: response.status, ...content, id: response.headers.get('X-Request-Id') };
  };
  const monstera = '{"id":7,"name":"Monstera"}';

  it(`the example ${name} creates a plant, and the same one again`, async () => {
    const created = { status: 200, name: 'Monstera' };
    expect(await post(monstera)).toMatchObject(created);
    const withId = { headers: { ...headers, 'X-Request-Id': 'one' } };
    expect(await post(monstera, withId)).toMatchObject({ ...created, id: 'one' });
    expect(await post(new Blob([monstera]).stream())).toMatchObject(created);
  });

  it(`the example ${name} responds with the errors of the service`, async () => {
    expect(await post('{"id":7,"name":"Ficus"}')).toMatchObject({ status: 400, error: 1401 });
    expect(await post('{"id":"7"}')).toMatchObject({ status: 400, error: 1102 });
    expect(await post('')).toMatchObject({ status: 400, error: 1001 });
    expect(await post('{}', { headers: {} })).toMatchObject({ status: 401, error: 2401 });
    const text = { headers: { ...headers, 'Content-Type': 'text/plain' } };
    expect(await post('{}', text)).toMatchObject({ status: 415, error: 2415 });
    expect(await post('{}', { method: 'PUT' })).toMatchObject({ status: 405, error: 2405 });
    for (const host of ['a b', '[', 'a:99999']) {
      const fields = [`Host: ${host}`, json, 'Content-Length: 2'];
      const body = '{"error":1000,"message":"a valid Host header is required"}';
      expect(await send(port, path, fields, '{}')).toMatchObject({ status: 400, body });
    }
  });

  it(`the example ${name} responds with 413 to a body that is too large, before its end`, async () => {
    const fields = ['Host: a', `Authorization: Bearer ${token}`, json];
    const chunks = `10000\r\n${' '.repeat(65_536)}\r\n`.repeat(17);
    fields.push('Transfer-Encoding: chunked');
    const response = await send(port, path, fields, chunks);
    expect(response?.status).toBe(413);
  });
});

it('workerd continues to serve after it has dropped requests of disconnected clients', async () => {
  const command = await onWorkerd('programs/dropped-requests.ts', droppedRequestsConfig);
  const port = await start(command);
  const body = '{"id":7,"name":"Monstera"}';
  const fields = ['Host: a', 'Authorization: Bearer a', json, `Content-Length: ${body.length}`];
  const { socket } = await connectRaw(port);
  socket.write(`POST /plants HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${body}`);
  const status = async () => (await send(port, '/plants', fields, body))?.status;
  // maxInFlight is 1.
  while ((await status()) !== 503);
  socket.resetAndDestroy();
  while ((await status()) !== 200);
});

const droppedRequestsConfig = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "plants", worker = (
      modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = "2026-01-01",
    )),
  ],
  sockets = [(name = "http", http = (), service = "plants")],
);
`;
