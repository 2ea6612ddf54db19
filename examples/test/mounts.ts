import { createServer, type Server } from 'node:http';
import { Readable } from 'node:stream';
import { type HttpBindings, serve } from '@hono/node-server';
import { createHttpServer, createRequestListener } from '@plantstore/server';
import { createFetchHandler } from '@plantstore/server/fetch';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import { actAt, callBoth, type Listener, other } from './other-listener.ts';

/** The statuses of the responses to a request, and whether its connection has ended. */
type Result = { readonly statuses: readonly number[]; readonly hasEnded: boolean };
export type Send = (id: string, pieces: readonly string[]) => Promise<Result>;

type Mounted = {
  readonly server: Server;
  /** Sends the request without a socket. */
  readonly inject?: Send;
};
export type Options = Parameters<typeof createRequestListener>[0];

export const headers = {
  Host: 'a',
  Authorization: 'Bearer good',
  'Content-Type': 'application/json',
};

/** A request id has no spaces. */
export const idOf = (name: string): string => name.replaceAll(/\W+/g, '-');

const mountOnFastify = (options: Options, note: Listener) => {
  const app = fastify();
  const ours = createRequestListener(options);
  app.all('/plants', {
    async onRequest(request, reply) {
      note(request.raw, reply.raw);
      const hijack: Listener = (...pair) => {
        void reply.hijack();
        ours(...pair);
      };
      await callBoth(hijack, request.raw, reply.raw);
    },
    handler: () => {},
  });
  return app;
};

/** Servers with our listener, each as documented. `note` is called with each request. */
export const mounts: Readonly<
  Record<string, (options: Options, note: Listener) => Promise<Mounted>>
> = {
  async createRequestListener(options, note) {
    const ours = createRequestListener(options);
    const server = createServer((request, response) => {
      note(request, response);
      callBoth(ours, request, response).catch(() =>
        response.writeHead(500, { 'Content-Length': 0 }).end(),
      );
    });
    return { server: server.listen(0, '127.0.0.1') };
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
    return { server: server.listen(0, '127.0.0.1') };
  },
  async Fastify(options, note) {
    const app = mountOnFastify(options, note);
    await app.listen({ host: '127.0.0.1', port: 0 });
    return { server: app.server };
  },
  async 'inject of Fastify'(options, note) {
    const app = mountOnFastify(options, note);
    await app.listen({ host: '127.0.0.1', port: 0 });
    const inject: Send = async (id, pieces) => {
      const payload = pieces.length > 1 ? Readable.from(pieces) : pieces.join('');
      const sent = { ...headers, 'X-Request-Id': idOf(id) };
      return app.inject({ method: 'POST', url: '/plants', headers: sent, payload }).then(
        ({ statusCode }) => ({ statuses: [statusCode], hasEnded: false }),
        () => ({ statuses: [], hasEnded: true }),
      );
    };
    return { server: app.server, inject };
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
    return { server: serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }) as Server };
  },
};
