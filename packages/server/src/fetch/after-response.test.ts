import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMemoryRepository } from '@plantstore/core';
import { describe, expect, it } from 'vitest';
import { createFetchHandler } from './create-fetch-handler.ts';

const headers = new Headers({ Authorization: 'Bearer good', 'Content-Type': 'application/json' });

/**
 * Serves a body that cannot be cancelled and whose chunks never end. Returns the outcome, and what is
 * used afterwards.
 */
const serve = async (
  chunk: Uint8Array,
  controller: AbortController,
  requestTimeoutMs = 86_400_000,
) => {
  let reads = 0;
  const next = async () => {
    await new Promise(setImmediate);
    reads += 1;
    return { value: chunk };
  };
  const { signal } = controller;
  const handler = createFetchHandler({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'good',
    maxBodyBytes: 1_000,
    requestTimeoutMs,
  });
  const timers = () => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
  const timersBefore = timers();
  const outcome = await handler({
    url: 'http://plants.test/plants',
    method: 'POST',
    headers,
    bodyUsed: false,
    body: { [Symbol.asyncIterator]: () => ({ next }) },
    signal,
  }).then(
    ({ status }) => status,
    (reason: unknown) => reason,
  );
  // Those of Vitest begin and end, too; one of the request would stay.
  for (let looks = 0; looks < 100 && timers() > timersBefore; looks += 1) await sleep(20);
  const timersAfter = Math.max(0, timers() - timersBefore);
  // The read that is in progress ends.
  await sleep(20);
  const readsBefore = reads;
  await sleep(50);
  const listeners = getEventListeners(signal, 'abort').length;
  return { outcome, readsAfter: reads - readsBefore, timersAfter, listeners };
};

describe('after its response, nothing of a request runs', () => {
  const nothing = { readsAfter: 0, timersAfter: 0, listeners: 0 };

  it('a body that has taken too long is not read after 408', async () => {
    const served = await serve(new Uint8Array(), new AbortController(), 100);
    expect(served).toEqual({ outcome: 408, ...nothing });
  });

  it('a body that is too large is not read after 413', async () => {
    const served = await serve(new Uint8Array(100), new AbortController());
    expect(served).toEqual({ outcome: 413, ...nothing });
  });

  it('a body is not read after its request is aborted', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort('enough'), 20);
    const served = await serve(new Uint8Array(), controller);
    expect(served).toEqual({ outcome: 'enough', ...nothing });
  });
});
