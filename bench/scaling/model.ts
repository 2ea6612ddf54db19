// A model of group commit: clients that each wait for an answer before the next request, an event loop
// for HTTP, and lanes that commit in batches. There is no chance in it: equal costs give equal figures.
import { createCores, createThread, createTimeline } from './timeline.ts';

/** What a batch costs: something for itself, and something for each plant. In microseconds, as all here. */
export type BatchCost = { readonly fixed: number; readonly each: number };

/** A store: what it takes of HTTP's thread, and what its lanes do meanwhile. */
export type Store = {
  readonly onHost: BatchCost;
  /** `wait` is for a disk or a network, and takes no core; the rest does. */
  readonly lane: BatchCost & { readonly wait: number };
  /** Batches on their way at a time. */
  readonly lanes: number;
  readonly maxBatch: number;
};

/** Clients and HTTP. */
export type Front = {
  /** Cores that clients, HTTP and the store share. */
  readonly cores: number;
  /** For a sleeping thread to go on. */
  readonly wakeUp: number;
  /** The clients' own work for a request; they share a thread. */
  readonly client: number;
  /** HTTP's work for a request: a half before the store is asked, a half after it has answered. */
  readonly http: number;
};

/** What becomes of it. */
export type Prediction = {
  readonly perSecond: number;
  readonly meanLatencyMs: number;
  readonly meanBatch: number;
};

/** How much is simulated before anything counts, and then counted. */
const plantsFor = (connections: number) => 5_000 + 20 * connections;

/** Predicts what so many connections get. */
export const predict = (front: Front, store: Store, connections: number): Prediction => {
  const timeline = createTimeline();
  const onCore = createCores(timeline, front.cores);
  const clients = createThread(onCore, front.wakeUp);
  const host = createThread(onCore, front.wakeUp);
  const warmUp = plantsFor(connections);
  const counted = { since: 0, plants: -warmUp, latency: 0, batches: 0 };
  const waiting: { readonly sentAt: number }[] = [];
  let free = store.lanes;
  let isScheduled = false;

  const count = (sentAt: number) => {
    counted.plants += 1;
    if (counted.plants === 0) {
      counted.since = timeline.now();
      counted.batches = 0;
    }
    if (counted.plants > 0) counted.latency += timeline.now() - sentAt;
  };

  /** As the stores do: all that have come until a lane is free share a commit. */
  const schedule = () => {
    if (isScheduled || free === 0 || waiting.length === 0) return;
    isScheduled = true;
    let batch: typeof waiting = [];
    const take = () => {
      batch = waiting.splice(0, store.maxBatch);
      free -= 1;
      isScheduled = false;
      return store.onHost.fixed + store.onHost.each * batch.length;
    };
    host(take, () => {
      schedule();
      const work = store.lane.fixed + store.lane.each * batch.length;
      onCore(work, () => timeline.after(store.lane.wait, () => settle(batch)));
    });
  };

  const settle = (batch: typeof waiting) => {
    counted.batches += 1;
    free += 1;
    schedule();
    for (const { sentAt } of batch)
      host(
        () => front.http / 2,
        () => request(sentAt),
      );
  };

  /** An answer, and the next request. */
  const request = (before?: number) => {
    clients(
      () => front.client,
      () => {
        const sentAt = timeline.now();
        if (before !== undefined) count(before);
        host(
          () => front.http / 2,
          () => {
            waiting.push({ sentAt });
            schedule();
          },
        );
      },
    );
  };

  for (let connection = 0; connection < connections; connection += 1) request();
  while (counted.plants < warmUp) timeline.next();
  const seconds = (timeline.now() - counted.since) / 1e6;
  return {
    perSecond: counted.plants / seconds,
    meanLatencyMs: counted.latency / counted.plants / 1e3,
    meanBatch: counted.plants / counted.batches,
  };
};
