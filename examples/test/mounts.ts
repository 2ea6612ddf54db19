import { createServer, type Server } from 'node:http';
import { type HttpBindings, serve } from '@hono/node-server';
import { createHttpServer, createRequestListener } from '@plantstore/server';
import { createFetchHandler } from '@plantstore/server/fetch';
import { Hono } from 'hono';
import { actAt, callBoth, type Listener, other } from './other-listener.ts';

export type Options = Parameters<typeof createRequestListener>[0];

/** Servers with our listener, each as documented. `note` is called with each request. */
export const mounts: Readonly<
  Record<string, (options: Options, note: Listener) => Promise<Server>>
> = {
  async createRequestListener(options, note) {
    const ours = createRequestListener(options);
    const server = createServer((request, response) => {
      note(request, response);
      callBoth(ours, request, response).catch(() =>
        response.writeHead(500, { 'Content-Length': 0 }).end(),
      );
    });
    return server.listen(0, '127.0.0.1');
  },
  async createHttpServer(options, note) {
    const server = createHttpServer(options);
    server.prependListener('request', (...pair) => {
      note(...pair);
      void actAt('before', ...pair);
      void actAt('beside', ...pair);
    });
    server.on('request', (...pair) => {
      if (other.current.place === 'after') void actAt('after', ...pair);
      else setImmediate(() => void actAt('after', ...pair));
    });
    return server.listen(0, '127.0.0.1');
  },
  async Hono(options, note) {
    // Its adapter reads the request, and may wait for another listener.
    const ours = createFetchHandler({ ...options, requestTimeoutMs: 300 });
    const app = new Hono<{ Bindings: HttpBindings }>();
    app.onError((_, context) => context.text('failed', 500));
    app.use(async ({ env: { incoming, outgoing } }, next) => {
      note(incoming, outgoing);
      await callBoth(next, incoming, outgoing);
    });
    app.all('/plants', async (context) => ours(context.req.raw));
    return serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }) as Server;
  },
};
