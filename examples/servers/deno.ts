import { createMemoryRepository } from '@plantstore/core';
import { acceptTokens } from '@plantstore/server';
import { createFetchHandler } from '@plantstore/server/fetch';

const plants = createFetchHandler({
  repository: createMemoryRepository(),
  authenticate: acceptTokens([Deno.env.get('PLANT_TOKEN') ?? '']),
  basePath: '/garden',
});

Deno.serve(
  {
    hostname: '127.0.0.1',
    port: Number(Deno.env.get('PORT') ?? 3000),
    onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
  },
  plants,
);
