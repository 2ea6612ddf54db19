// For workerd: a fetch handler that accepts one request at a time, with a store that takes a second.
import type { PlantRepository } from '@plantstore/core';
import { createFetchHandler } from '@plantstore/server/fetch';
import { okAsync, ResultAsync } from 'neverthrow';

const repository: PlantRepository = {
  create: () =>
    ResultAsync.fromSafePromise(
      new Promise((resolve) => {
        setTimeout(resolve, 1_000);
      }),
    ).andThen(() => okAsync()),
};

// oxlint-disable-next-line import/no-default-export -- workerd requires it
export default {
  fetch: createFetchHandler({
    repository,
    authenticate: () => true,
    maxInFlight: 1,
    requestTimeoutMs: 1_000,
    handlerTimeoutMs: 2_000,
  }),
};
