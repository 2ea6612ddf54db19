import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type * as packed from '@plantstore/client';
import { connectRaw, sendRaw } from '@plantstore/test-support/raw-http';
import { build } from 'tsup';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { spawnProgram, untilOutput } from '../../black-box/program.ts';
import type { SharedCall } from './programs/shared-client.ts';
import type { Finding } from './programs/suite.ts';
import { servePage, startServers } from './servers.ts';

const run = promisify(execFile);

const { app, tools } = inject('release');
// Isolated from the user's configuration; caches and profiles are in the temporary folder, too.
const env = { HOME: app, PATH: process.env['PATH'] ?? '' };

const expectNoFailures = (findings: readonly Finding[]) => {
  expect(findings.filter(({ failure }) => failure !== '')).toEqual([]);
  expect(findings.length).toBeGreaterThan(10);
};

/** Bundles a program with the packages that it imports, as an app does. Returns its path. */
const bundle = async (entry: string): Promise<string> => {
  await build({
    config: false,
    silent: true,
    entry: { [entry]: join(app, `programs/${entry}.ts`) },
    format: ['esm'],
    platform: 'browser',
    target: 'es2022',
    noExternal: [/./],
    outDir: join(app, 'bundles'),
  });
  return join(app, `bundles/${entry}.js`);
};

const runtime = (name: string) => join(tools, 'node_modules/.bin', name);

/** Starts workerd with a program until the end of the test, and returns its URL. */
const startWorker = async (entry: string, compatibilityDate: string): Promise<string> => {
  await bundle(entry);
  const config = join(app, `${entry}.capnp`);
  await writeFile(config, workerdConfig(entry, compatibilityDate));
  const command = [runtime('workerd'), 'serve', config, '--control-fd=1'] as const;
  const worker = spawnProgram({ command, env });
  await untilOutput(worker, (stdout) => stdout.includes('\n'));
  const { port } = JSON.parse(worker.stdout().split('\n')[0] ?? '') as { port: number };
  return `http://127.0.0.1:${port}`;
};

describe('suite of the packed client', () => {
  it.each([
    ['Node 22.18', [join(tools, 'node_modules/node-22.18/bin/node')]],
    ['Deno', [runtime('deno'), 'run', '--no-prompt', '-A']],
    ['Bun', [runtime('bun')]],
  ])('the packed client passes the suite on %s', async (_, [command = '', ...flags]) => {
    const program = join(app, 'programs/program.ts');
    const settings = JSON.stringify(await startServers());
    const { stdout } = await run(command, [...flags, program, settings], { env });
    expectNoFailures(JSON.parse(stdout) as Finding[]);
  });

  it('the packed client passes the suite on workerd', async () => {
    const url = await startWorker('worker', '2025-09-01');
    const body = JSON.stringify(await startServers());
    const response = await fetch(url, { method: 'POST', body });
    expectNoFailures((await response.json()) as Finding[]);
  });

  // On the older date, a promise of another request never settles; on the newer one, it may reject.
  it.each(['2024-01-01', '2025-09-01'])(
    'requests on workerd of %s create plants after one that ended while it waited for the token of their client',
    async (date) => {
      const url = await startWorker('shared-client', date);
      const { baseUrl, token } = await startServers();
      for (const slow of ['token', 'refresh'] as const) {
        for (const endsBy of ['timeout', 'abort'] as const) {
          const send = async (more: Partial<SharedCall> = {}) => {
            const body = JSON.stringify({ baseUrl, token, slow, ...more } satisfies SharedCall);
            return (await fetch(`${url}/${slow}-${endsBy}`, { method: 'POST', body })).json();
          };
          expect(await send({ endsBy })).toBe(endsBy === 'abort' ? 'aborted' : endsBy);
          expect([await send(), await send()]).toEqual(['created', 'created']);
        }
      }
    },
  );

  it('the packed client passes the suite on a page of another origin in Chromium', async ({
    skip,
  }) => {
    const isInstalled = spawnSync('chromium', ['--version']).status === 0;
    skip(!isInstalled, 'chromium is not installed; .ci/run installs it');
    const script = await readFile(await bundle('page'), 'utf8');
    const { origin, findings } = await servePage(script, startServers);
    const opened = spawn('chromium', [...headless, origin], { env, stdio: 'ignore' });
    const closed = once(opened, 'close');
    onTestFinished(async () => {
      opened.kill('SIGTERM');
      await closed;
    });
    expectNoFailures(await findings);
  });
});

it('workerd continues to serve after it has dropped requests of disconnected clients', async () => {
  const port = Number(new URL(await startWorker('dropped-requests', '2026-01-01')).port);
  const body = '{"id":7,"name":"Monstera"}';
  const head = 'POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\n';
  const type = 'Content-Type: application/json\r\n';
  const request = `${head}${type}Content-Length: ${body.length}\r\n\r\n${body}`;
  const { socket } = await connectRaw(port);
  socket.write(request);
  // maxInFlight is 1.
  while ((await sendRaw(port, request)).status !== 503);
  socket.resetAndDestroy();
  while ((await sendRaw(port, request)).status !== 200);
});

describe('the packed client with an injected fetch', () => {
  it.each(['node-fetch', 'node-fetch-2'])(
    'the packed client stops reading an endless body of %s',
    async (name) => {
      const { createClient } = (await import(
        join(app, 'node_modules/@plantstore/client/dist/index.js')
      )) as typeof packed;
      const entry = createRequire(join(tools, 'package.json')).resolve(name);
      const injected = (await import(entry)) as { default: packed.ClientOptions['fetch'] };
      const { endlessUrl } = await startServers();
      const client = createClient({ baseUrl: endlessUrl, token: 'any', fetch: injected.default });
      const created = await client.createPlant({ id: 1n, name: 'Monstera' });
      expect(created._unsafeUnwrapErr().kind).toBe('response-invalid');
    },
  );
});

const workerdConfig = (
  entry: string,
  compatibilityDate: string,
) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "suite", worker = (
      modules = [(name = "worker.js", esModule = embed "bundles/${entry}.js")],
      compatibilityDate = "${compatibilityDate}",
      globalOutbound = "network",
    )),
    (name = "network", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "suite")],
);
`;

const headless = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--remote-debugging-port=0',
];
