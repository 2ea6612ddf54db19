// For workerd: settings come as a request, findings are its answer.
import { createClient, createPlants } from '@plantstore/client';
import { runSuite, type Settings } from './suite.ts';

// oxlint-disable-next-line import/no-default-export -- workerd looks for it
export default {
  fetch: async (request: Request): Promise<Response> =>
    Response.json(
      await runSuite({ createClient, createPlants }, (await request.json()) as Settings),
    ),
};
