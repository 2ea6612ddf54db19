import { setTimeout as sleep } from 'node:timers/promises';
import type { PlantRepository } from '@plantstore/core';
import { ResultAsync } from 'neverthrow';

/** Returns a repository that completes its creates when `completeAll` is called. */
export const onDemand = () => {
  const waiting: (() => void)[] = [];
  const repository: PlantRepository = {
    create: () =>
      ResultAsync.fromSafePromise(
        new Promise<void>((resolve) => {
          waiting.push(resolve);
        }),
      ),
  };
  const until = async (count: number) => {
    while (waiting.length < count) await sleep(2);
  };
  return {
    repository,
    until,
    completeAll: () => waiting.splice(0).forEach((complete) => complete()),
  };
};
