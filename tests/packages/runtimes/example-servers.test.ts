import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { sendRaw } from '@plantstore/test-support/raw-http';
import { build } from 'tsup';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Cleanup, spawnProgram, untilOutput } from '../../black-box/program.ts';

type Command = [string, ...string[]];

const token = 's3cret';
const { app, tools } = inject('release');
const runtime = (name: string): string => join(tools, 'node_modules/.bin', name);

/** Bundles the example for workerd beside its configuration. Returns the command to start it. */
const onWorkerd = async (): Promise<Command> => {
  const outDir = join(app, 'servers');
  const entry = { worker: join(outDir, 'workerd.ts') };
  const forWorkerd = { format: ['esm' as const], platform: 'neutral' as const, target: 'es2022' };
  await build({ config: false, silent: true, entry, noExternal: [/./], outDir, ...forWorkerd });
  const disk = `--directory-path=disk=${await mkdtemp(join(app, 'plants-'))}`;
  const flags = ['--socket-addr=http=127.0.0.1:0', '--control-fd=1', disk];
  return [runtime('workerd'), 'serve', 'servers/workerd.capnp', ...flags];
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
  ['workerd.ts', '/plants', onWorkerd],
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
  const send = async (fields: readonly string[], body: string) => {
    const head = [`POST ${path} HTTP/1.1`, 'Content-Type: application/json', ...fields];
    return sendRaw(port, `${head.join('\r\n')}\r\n\r\n${body}`);
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
      const fields = [`Host: ${host}`, 'Content-Length: 2'];
      const body = '{"error":1000,"message":"a valid Host header is required"}';
      expect(await send(fields, '{}')).toMatchObject({ status: 400, body });
    }
  });

  it(`the example ${name} responds with 413 to a body that is too large, before its end`, async () => {
    const fields = ['Host: a', `Authorization: Bearer ${token}`, 'Transfer-Encoding: chunked'];
    const chunks = `10000\r\n${' '.repeat(65_536)}\r\n`.repeat(17);
    expect(await send(fields, chunks)).toHaveProperty('status', 413);
  });
});
