import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { startServer } from '@plantstore/server';
import { maxBodyBytes, token } from './arbitraries.ts';
import { toText } from './reference.ts';

/** A server to fuzz, with its stored plants and its internal errors. */
export type Target = {
  readonly port: number;
  /** Returns the plants that were stored since the last call. */
  readonly takeStored: () => string[];
  readonly takeErrors: () => unknown[];
  readonly stop: () => Promise<void>;
};

/** Starts the target in this process, so that its uncaught exceptions are recorded. */
export const startTarget = async (): Promise<Target> => {
  const stored: string[] = [];
  const errors: unknown[] = [];
  const repository: PlantRepository = {
    create: (newPlant) => {
      stored.push(toText(newPlant));
      return createMemoryRepository().create(newPlant);
    },
  };
  const started = await startServer({
    repository,
    // Asynchronous, because later requests must not overtake one that is being authenticated.
    authenticate: async (given) => {
      await new Promise(setImmediate);
      return given === token;
    },
    port: 0,
    maxBodyBytes,
    headersTimeoutMs: 3_000,
    requestTimeoutMs: 4_000,
    keepAliveTimeoutMs: 3_000,
    logger: {
      info() {},
      warn() {},
      error: (fields, message) => void errors.push({ ...fields, message }),
    },
  });
  if (started.isErr()) throw new Error(started.error.message);
  const record = (thrown: unknown) => void errors.push(thrown);
  process.on('uncaughtException', record);
  process.on('unhandledRejection', record);
  return {
    port: Number(new URL(started.value.url).port),
    takeStored: () => stored.splice(0),
    takeErrors: () => errors.splice(0),
    async stop() {
      process.off('uncaughtException', record);
      process.off('unhandledRejection', record);
      // The unreferenced timers of close() do not keep the process alive.
      const keepAlive = setTimeout(() => {}, 2 ** 31 - 1);
      await started.value.close(0);
      clearTimeout(keepAlive);
    },
  };
};
