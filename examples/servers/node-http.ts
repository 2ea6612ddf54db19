import { createServer } from 'node:http';
import { createMemoryRepository } from '@plantstore/core';
import { acceptTokens, createRequestListener } from '@plantstore/server';

const plants = createRequestListener({
  repository: createMemoryRepository(),
  authenticate: acceptTokens([process.env['PLANT_TOKEN'] ?? '']),
  basePath: '/garden',
});

const server = createServer((request, response) => {
  if (request.url?.startsWith('/garden/')) plants(request, response);
  else response.end('a garden');
});

server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () =>
  console.log('listening', server.address()),
);
