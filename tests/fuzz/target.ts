import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { startServer } from '@plantstore/server';
import { connectRaw } from '@plantstore/test-support/raw-http';
import { type Client, maxBodyBytes, token } from './grammar.ts';
import { toText } from './reference.ts';

/** Starts a server in this process, which keeps what it stores, its errors and uncaught exceptions. */
export const startTarget = async () => {
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
    /** Returns the plants and the errors since the last call. */
    take: () => ({ stored: stored.splice(0), errors: errors.splice(0) }),
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

export type Target = Awaited<ReturnType<typeof startTarget>>;

/** Runs a client, and returns the bytes that it has received; rejects if the connection hangs. */
export const send = async (port: number, { bytes, cuts, resets }: Client): Promise<string> => {
  const { socket, received, ended } = await connectRaw(port);
  socket.setNoDelay();
  let start = 0;
  for (const end of [...cuts, bytes.length].toSorted((one, another) => one - another)) {
    if (end > start && socket.writable) {
      const piece = bytes.subarray(start, end);
      await new Promise((resolve) => void socket.write(piece, () => setImmediate(resolve)));
    }
    start = end;
  }
  if (resets) socket.resetAndDestroy();
  else socket.end();
  // Every response is faster.
  const timer = setTimeout(() => socket.destroy(new Error('hung')), 60_000);
  await ended;
  clearTimeout(timer);
  if (socket.errored?.message === 'hung')
    throw new Error(`a connection hung after ${JSON.stringify(received())}`);
  socket.destroy();
  return received();
};
