import { createMemoryRepository } from '@plantstore/core';
import { acceptTokens, createRequestListener } from '@plantstore/server';
import { fastify } from 'fastify';

const plants = createRequestListener({
  repository: createMemoryRepository(),
  authenticate: acceptTokens([process.env['PLANT_TOKEN'] ?? '']),
  basePath: '/garden',
});

const app = fastify();
app.get('/', async () => 'a garden');

app.all('/garden/plants', {
  // In onRequest, because Fastify reads the body after it.
  onRequest: async (request, reply) => {
    void reply.hijack();
    plants(request.raw, reply.raw);
  },
  handler: () => {},
});

const port = Number(process.env['PORT'] ?? 3000);
console.log(await app.listen({ host: '127.0.0.1', port }));
