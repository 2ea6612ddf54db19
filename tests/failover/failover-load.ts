import { setTimeout as sleep } from 'node:timers/promises';
import type { CreatePlantError, PlantClient } from '@plantstore/client';

/** A plant that was sent. */
export type Plant = { readonly id: bigint; readonly name: string; readonly tag?: string };

/** Concurrent creates and their results. */
export type FailoverLoad = ReturnType<typeof startFailoverLoad>;

/** Shared by all loads, so that every plant is unique. */
let next = 0n;

const nextPlant = (): Plant => {
  // Distributed over the int64 range, so that inserts do not all change the last page of the index.
  const id = BigInt.asIntN(64, next * 0x9e37_79b9_7f4a_7c15n);
  next += 1n;
  return { id, name: `plant ${id}`, ...(id % 2n === 0n && { tag: '🪴' }) };
};

/** Whether the outcome of the create is unknown. */
const isUnknown = (error: CreatePlantError): boolean =>
  error.kind === 'network' ||
  error.kind === 'timeout' ||
  error.kind === 'aborted' ||
  (error.kind === 'refused' && error.name === 'unavailable');

const pauseMs = 20;

/**
 * Creates plants through several concurrent clients of each server. A create with an unknown outcome is retried on
 * the next server. For some acknowledged plants, also tries to create another plant with the same id.
 */
export const startFailoverLoad = (servers: readonly PlantClient[], clientsPerServer: number) => {
  const acknowledged: Plant[] = [];
  const wrongResults: string[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  let figures = { acknowledged: 0, longestOutageMs: 0 };
  let lastAt = performance.now();
  let waiting: { readonly since: number; missing: number; readonly resolve: () => void }[] = [];

  const outageMs = () => performance.now() - lastAt;

  /** Retries a create until its outcome is known; returns `undefined` when the load is stopped before. */
  const createUntilKnown = async (plant: Plant, first: number): Promise<string | undefined> => {
    for (let attempt = first; !signal.aborted; attempt += 1) {
      const created = await servers[attempt % servers.length]?.createPlant(plant, { signal });
      if (created?.isOk() === true) {
        const { name, tag } = created.value;
        return name === plant.name && tag === plant.tag ? 'ok' : `ok of ${name} (${tag})`;
      }
      if (created?.isErr() === true && !isUnknown(created.error)) {
        return created.error.kind === 'refused' ? created.error.name : created.error.kind;
      }
      await sleep(pauseMs);
    }
    return undefined;
  };

  const create = async (server: number): Promise<void> => {
    const plant = nextPlant();
    const sentAt = performance.now();
    const outcome = await createUntilKnown(plant, server);
    if (outcome === undefined) return;
    if (outcome !== 'ok') wrongResults.push(`${outcome} for plant ${plant.id}`);
    else {
      figures.acknowledged += 1;
      figures.longestOutageMs = Math.max(figures.longestOutageMs, outageMs());
      lastAt = performance.now();
      acknowledged.push(plant);
      for (const one of waiting) if (sentAt >= one.since) one.missing -= 1;
      for (const one of waiting) if (one.missing <= 0) one.resolve();
      waiting = waiting.filter(({ missing }) => missing > 0);
    }
    if (next % 16n !== 0n) return;
    const conflict = await createUntilKnown({ id: plant.id, name: 'another' }, server);
    if (conflict !== undefined && conflict !== 'id-taken') {
      wrongResults.push(`${conflict} for another plant with the id ${plant.id}`);
    }
  };

  const work = async (server: number): Promise<void> => {
    while (!signal.aborted) {
      await create(server);
      await sleep(pauseMs);
    }
  };
  const running = Promise.all(
    Array.from({ length: servers.length * clientsPerServer }, async (_, index) => work(index)),
  );

  return {
    acknowledged,
    /** Results that violate the contract of a plant store. */
    wrongResults,
    /** Time since the last acknowledged plant, in milliseconds. */
    outageMs,
    /** Returns the acknowledged plants, and the longest time without one, since the previous call. */
    takeFigures() {
      const taken = figures;
      figures = { acknowledged: 0, longestOutageMs: 0 };
      return taken;
    },
    /** Resolves when this number of plants, first sent after this call, is acknowledged. */
    waitForAcknowledged: async (plants: number) =>
      new Promise<void>((resolve) => {
        waiting.push({ since: performance.now(), missing: plants, resolve });
      }),
    async stop() {
      stopping.abort();
      await running;
    },
  };
};
