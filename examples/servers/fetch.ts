import process from 'node:process';
import { createMemoryRepository } from '@plantstore/core';
import { acceptTokens } from '@plantstore/server';
import { createFetchHandler } from '@plantstore/server/fetch';

// What `bun fetch.ts` and `deno serve fetch.ts` serve.
export default {
  hostname: '127.0.0.1',
  port: Number(process.env['PORT'] ?? 3000),
  fetch: createFetchHandler({
    repository: createMemoryRepository(),
    authenticate: acceptTokens([process.env['PLANT_TOKEN'] ?? '']),
    basePath: '/garden',
  }),
};
