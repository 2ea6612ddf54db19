import { createMemoryRepository } from '@plantstore/core';
import { acceptTokens, createRequestListener } from '@plantstore/server';
import express from 'express';

const app = express();

// Before express.json(), which would consume the body, so that the response would be 500.
app.use(
  '/garden',
  createRequestListener({
    repository: createMemoryRepository(),
    authenticate: acceptTokens([process.env['PLANT_TOKEN'] ?? '']),
    // Without basePath, because Express removes the mount path from the URL.
  }),
);

app.use(express.json());
app.get('/', (_request, response) => void response.send('a garden'));

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () =>
  console.log('listening', server.address()),
);
