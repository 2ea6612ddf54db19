import { serve } from '@hono/node-server';
import { createMemoryRepository } from '@plantstore/core';
import { acceptTokens } from '@plantstore/server';
import { createFetchHandler } from '@plantstore/server/fetch';
import { Hono } from 'hono';

const plants = createFetchHandler({
  repository: createMemoryRepository(),
  authenticate: acceptTokens([process.env['PLANT_TOKEN'] ?? '']),
  basePath: '/garden',
});

const app = new Hono();
app.get('/', (context) => context.text('a garden'));
app.all('/garden/plants', async (context) => plants(context.req.raw));

const port = Number(process.env['PORT'] ?? 3000);
serve({ fetch: app.fetch, hostname: '127.0.0.1', port }, (address) =>
  console.log(`http://127.0.0.1:${address.port}`),
);
