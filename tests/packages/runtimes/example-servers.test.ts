import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectRaw, parseResponses } from '@plantstore/test-support/raw-http';
import { build } from 'tsup';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';

/** Installations download packages and runtimes. */
const minutes = 60_000;
const examples = fileURLToPath(new URL('../../../examples', import.meta.url));
const token = 's3cret';

const { app, tools } = inject('release');

const hostError = '{"error":1000,"message":"a valid Host header is required"}';

const runtime = (name: string): string => join(tools, 'node_modules/.bin', name);

/** Bundles a program for workerd, writes its configuration, and returns the command to start it. */
const onWorkerd = async (program: string, config: string): Promise<string[]> => {
  const outDir = await mkdtemp(join(app, 'worker-'));
  const entry = { worker: join(app, program) };
  const forWorkerd = { format: ['esm' as const], platform: 'neutral' as const, target: 'es2022' };
  await build({ config: false, silent: true, entry, noExternal: [/./], outDir, ...forWorkerd });
  await writeFile(join(outDir, 'workerd.capnp'), config);
  const flags = ['--socket-addr=http=127.0.0.1:0', '--control-fd=1'];
  return [runtime('workerd'), 'serve', join(outDir, 'workerd.capnp'), ...flags];
};

const exampleOnWorkerd = async (): Promise<string[]> => {
  const config = await readFile(join(examples, 'servers/workerd.capnp'), 'utf8');
  const plants = await mkdtemp(join(app, 'plants-'));
  return [...(await onWorkerd('servers/workerd.ts', config)), `--directory-path=disk=${plants}`];
};

/** Starts a server that prints its port. */
const start = async ([command = '', ...args]: readonly string[]) => {
  // Isolated from the user's configuration and caches.
  const env = { HOME: app, PATH: process.env['PATH'], PORT: '0', PLANT_TOKEN: token };
  const server = spawn(command, args, { cwd: app, env, stdio: ['ignore', 'pipe', 'pipe'] });
  // Deno prints it on standard error.
  const streams = [server.stdout.setEncoding('utf8'), server.stderr.setEncoding('utf8')];
  const [line] = (await Promise.race(streams.map(async (one) => once(one, 'data')))) as [string];
  const port = Number(/(?:port"?: ?|127\.0\.0\.1:)(\d+)/.exec(line)?.[1]);
  return {
    port,
    stop: async () => {
      const closed = once(server, 'close');
      server.kill('SIGKILL');
      await closed;
    },
  };
};

describe.each<[name: string, path: string, command: () => Promise<string[]>]>([
  ['express.ts', '/garden/plants', async () => [process.execPath, 'servers/express.ts']],
  ['fastify.ts', '/garden/plants', async () => [process.execPath, 'servers/fastify.ts']],
  ['fetch.ts on Bun', '/garden/plants', async () => [runtime('bun'), 'servers/fetch.ts']],
  [
    'fetch.ts on Deno',
    '/garden/plants',
    async () => [
      runtime('deno'),
      'serve',
      '-A',
      '--host=127.0.0.1',
      '--port=0',
      'servers/fetch.ts',
    ],
  ],
  ['workerd.ts', '/plants', exampleOnWorkerd],
])('the example %s', { timeout: 5 * minutes }, (name, path, commandOf) => {
  let server: Awaited<ReturnType<typeof start>>;

  beforeAll(async () => {
    server = await start(await commandOf());
  }, 5 * minutes);

  afterAll(async () => server?.stop());

  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const post = async (body: string | ReadableStream, more: RequestInit = {}) => {
    const url = `http://127.0.0.1:${server.port}${path}`;
    const response = await fetch(url, { method: 'POST', headers, body, duplex: 'half', ...more });
    const content = (await response.json()) as Record<string, unknown>;
    return { status: response.status, ...content, id: response.headers.get('X-Request-Id') };
  };
  const plant = (id: number, text: string) => `{"id":${id},"name":"${text}"}`;

  it(`the example ${name} creates a plant, and the same one again`, async () => {
    const created = { status: 200, name: 'Monstera' };
    expect(await post(plant(7, 'Monstera'))).toMatchObject(created);
    const withId = { headers: { ...headers, 'X-Request-Id': 'one' } };
    expect(await post(plant(7, 'Monstera'), withId)).toMatchObject({ ...created, id: 'one' });
    const chunks = new Blob([plant(7, 'Monstera')]).stream();
    expect(await post(chunks)).toMatchObject(created);
  });

  it(`the example ${name} responds with the errors of the service`, async () => {
    expect(await post(plant(7, 'Ficus'))).toMatchObject({ status: 400, error: 1401 });
    expect(await post('{"id":"7"}')).toMatchObject({ status: 400, error: 1102 });
    expect(await post('{')).toMatchObject({ status: 400, error: 1002 });
    expect(await post('')).toMatchObject({ status: 400, error: 1001 });
    expect(await post('{}', { headers: {} })).toMatchObject({ status: 401, error: 2401 });
    const text = { headers: { ...headers, 'Content-Type': 'text/plain' } };
    expect(await post('{}', text)).toMatchObject({ status: 415, error: 2415 });
    expect(await post('{}', { method: 'PUT' })).toMatchObject({ status: 405, error: 2405 });
  });

  it.each(['a b', '@', '[', '%zz', 'a:99999'])(
    `the example ${name} responds with 400 to the malformed Host %j`,
    async (host) => {
      const fields = `Host: ${host}\r\nContent-Type: application/json\r\nContent-Length: 2`;
      for (const more of ['', `Authorization: Bearer ${token}\r\n`]) {
        const { socket, until } = await connectRaw(server.port);
        socket.write(`POST ${path} HTTP/1.1\r\n${more}${fields}\r\n\r\n{}`);
        const [response] = parseResponses(await until((text) => parseResponses(text).length > 0));
        socket.destroy();
        expect(response).toMatchObject({ status: 400, body: hostError });
      }
    },
  );

  it(`the example ${name} creates one of many concurrent plants with the same id`, async () => {
    const names = Array.from({ length: 50 }, (_, index) => `rival ${index}`);
    const outcomes = await Promise.all(names.map(async (rival) => post(plant(8, rival))));
    expect(outcomes.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(outcomes.filter((one) => 'error' in one && one['error'] === 1401)).toHaveLength(49);
  });

  it(`the example ${name} responds with 413 to a body that is too large, before its end`, async () => {
    const { socket, until } = await connectRaw(server.port);
    const fields = `Host: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json`;
    socket.write(`POST ${path} HTTP/1.1\r\n${fields}\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
    for (let sent = 0; sent < 17; sent += 1) socket.write(chunk);
    const [response] = parseResponses(await until((text) => parseResponses(text).length > 0));
    socket.destroy();
    expect(response?.status).toBe(413);
  });

  it(`the example ${name} continues to serve after clients that disconnect during a body`, async () => {
    for (let count = 0; count < 20; count += 1) {
      const { socket } = await connectRaw(server.port);
      const fields = `Host: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json`;
      socket.end(`POST ${path} HTTP/1.1\r\n${fields}\r\nContent-Length: 100\r\n\r\n{`);
      socket.destroySoon();
    }
    expect(await post(plant(9, 'Calathea'))).toMatchObject({ status: 200 });
  });
});

it(
  'workerd continues to serve after it has dropped requests of disconnected clients',
  async () => {
    const server = await start(
      await onWorkerd('programs/dropped-requests.ts', droppedRequestsConfig),
    );
    onTestFinished(server.stop);
    const body = '{"id":7,"name":"Monstera"}';
    const fields = `Host: a\r\nAuthorization: Bearer a\r\nContent-Type: application/json`;
    const request = `POST /plants HTTP/1.1\r\n${fields}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const disconnecting = await connectRaw(server.port);
    disconnecting.socket.write(request);
    const status = async () => {
      const { socket, until } = await connectRaw(server.port);
      socket.write(request);
      const [response] = parseResponses(await until((text) => parseResponses(text).length > 0));
      socket.destroy();
      return response?.status;
    };
    // maxInFlight is 1.
    while ((await status()) !== 503);
    disconnecting.socket.resetAndDestroy();
    while ((await status()) !== 200);
  },
  5 * minutes,
);

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
