import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { startProgram, token } from '../../black-box/program.ts';
import type { Finding, Settings } from './programs/suite.ts';

/** Starts a server on a free loopback port until the end of the test, and returns its origin. */
const startServer = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers': 'authorization, content-type',
};

/** Returns a listener that allows preflights and passes other requests to `listener`. */
const allowPreflights =
  (listener: RequestListener): RequestListener =>
  (request, response) => {
    if (request.method === 'OPTIONS') response.writeHead(204, corsHeaders).end();
    else listener(request, response);
  };

const closedOrigin = async (): Promise<string> => {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return `http://127.0.0.1:${port}`;
};

/** Starts the servers of the suite; `pageOrigin` is allowed by CORS. */
export const startServers = async (pageOrigin?: string): Promise<Settings> => {
  const args = pageOrigin === undefined ? [] : ['--cors-origins', pageOrigin];
  const server = await startProgram({ args });
  return {
    baseUrl: server.url.replace(/\/plants$/, ''),
    token,
    silentUrl: await startServer(allowPreflights(() => undefined)),
    unendingUrl: await startServer(
      allowPreflights((_request, response) => {
        response.writeHead(200, { ...corsHeaders, 'Content-Type': 'application/json' });
        response.write('{"name":');
      }),
    ),
    endlessUrl: await startServer((_request, response) => {
      const writeChunks = () => {
        while (response.write('"'.repeat(2 ** 16)));
      };
      response.on('drain', writeChunks);
      writeChunks();
    }),
    closedUrl: await closedOrigin(),
    isPage: pageOrigin !== undefined,
  };
};

/** Serves a page with a script at `/`, and returns its origin and its findings. */
export const servePage = async (
  script: string,
  settingsFor: (origin: string) => Promise<Settings>,
): Promise<{
  readonly origin: string;
  readonly findings: Promise<Finding[]>;
}> => {
  const { promise: findings, resolve } = Promise.withResolvers<Finding[]>();
  const { promise: settings, resolve: settle } = Promise.withResolvers<Settings>();
  const origin = await startServer(async (request, response) => {
    switch (request.url) {
      case '/':
        response.setHeader('Content-Type', 'text/html');
        response.end('<!doctype html><script type="module" src="/script.js"></script>');
        break;
      case '/script.js':
        response.setHeader('Content-Type', 'text/javascript');
        response.end(script);
        break;
      case '/settings':
        response.end(JSON.stringify(await settings));
        break;
      case '/findings':
        resolve(JSON.parse(await text(request)) as Finding[]);
        response.end();
        break;
      default:
        response.writeHead(404).end();
    }
  });
  settle(await settingsFor(origin));
  return { origin, findings };
};
