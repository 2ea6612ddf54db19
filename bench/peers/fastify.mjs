// Fastify with JSON Schema (ajv), also for the response, as its documentation recommends, and its bearer plugin.
import bearerAuth from '@fastify/bearer-auth';
import Fastify from 'fastify';
import { idTaken, openStore } from './store.mjs';

const text = { type: 'string' };
const newPlant = {
  type: 'object',
  required: ['id', 'name'],
  properties: { id: { type: 'integer' }, name: text, tag: text },
};
const plant = { type: 'object', properties: { name: text, tag: text } };

const store = await openStore(process.argv[2]);
const app = Fastify();
await app.register(bearerAuth, { keys: new Set([process.env.TOKEN]) });

app.post(
  '/plants',
  { schema: { body: newPlant, response: { 200: plant } } },
  async (request, reply) => {
    if (!(await store(request.body))) return reply.code(400).send(idTaken);
    return request.body;
  },
);

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
