// For workerd: reads the settings from the request body and responds with the findings.
import { createClient } from '@plantstore/client';
import { runSuite, type Settings } from './suite.ts';

// oxlint-disable-next-line import/no-default-export -- workerd requires it
export default {
  fetch: async (request: Request): Promise<Response> =>
    Response.json(await runSuite({ createClient }, (await request.json()) as Settings)),
};
