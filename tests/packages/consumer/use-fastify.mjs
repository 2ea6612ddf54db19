// Fastify's inject sends a simulated request to our listener.
import { createMemoryRepository } from '@plantstore/core';
import { createRequestListener } from '@plantstore/server';
import { fastify } from 'fastify';

const ours = createRequestListener({
  repository: createMemoryRepository(),
  authenticate: (token) => token === 'good',
});
const app = fastify();
app.all('/plants', {
  onRequest: async (request, reply) => {
    void reply.hijack();
    ours(request.raw, reply.raw);
  },
  handler: () => {},
});
const headers = { Authorization: 'Bearer good', 'Content-Type': 'application/json' };
for (const name of ['Monstera', 'Ficus']) {
  const payload = `{"id":7,"name":"${name}"}`;
  const response = await app.inject({ method: 'POST', url: '/plants', headers, payload });
  console.log(response.statusCode, response.body);
}
