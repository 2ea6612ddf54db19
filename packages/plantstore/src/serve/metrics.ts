import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { RequestEndEvent, RunningServer } from '@plantstore/server';
import { err, ok, type Result } from 'neverthrow';
import { version } from '../version.ts';
import type { MetricsPage } from './health-server.ts';
import { loadOptional } from '../load-optional.ts';
import type { StoreListeners, Store } from '../open-store.ts';
import type { Settings } from '../settings/settings.ts';

export type Metrics = MetricsPage &
  Required<StoreListeners> & {
    /** Adds the gauges of a started server. */
    readonly measure: (started: {
      readonly server: RunningServer;
      readonly store: Store;
      readonly settings: Pick<Settings, 'database' | 'maxInFlight' | 'maxConnections'>;
    }) => void;
    readonly stop: () => void;
  };

/** In seconds: from a commit on a fast disk to the longest timeout. */
const durationBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];
const plantBuckets = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];

const channelName = 'plantstore:request:end';

export type Prometheus = typeof import('prom-client');

export function createMetrics(prometheus: Prometheus, isReady: () => Promise<boolean>): Metrics {
  const { Counter, Gauge, Histogram } = prometheus;
  const register = new prometheus.Registry();
  const registers = [register];
  prometheus.collectDefaultMetrics({ register });
  // promtool does not accept the names of these gauges.
  for (const kind of ['resources', 'handles', 'requests'])
    register.removeSingleMetric(`nodejs_active_${kind}_total`);

  const requests = new Counter({
    name: 'plantstore_requests_total',
    help: 'Requests by the status and the error number of the response, or "none"',
    labelNames: ['status', 'error'],
    registers,
  });
  const requestDurations = new Histogram({
    name: 'plantstore_request_duration_seconds',
    help: 'Time from the head of a request to the end of its response',
    buckets: durationBuckets,
    registers,
  });
  const commitDurations = new Histogram({
    name: 'plantstore_commit_duration_seconds',
    help: 'Time that the store takes to commit a batch of plants',
    buckets: durationBuckets,
    registers,
  });
  const commitPlants = new Histogram({
    name: 'plantstore_commit_plants',
    help: 'Plants in a committed batch',
    buckets: plantBuckets,
    registers,
  });
  const gauge = (
    name: string,
    help: string,
    value: () => number | undefined | Promise<number | undefined>,
    labels: Readonly<Record<string, string>> = {},
  ): void => {
    const created = new Gauge({
      name: `plantstore_${name}`,
      help,
      labelNames: Object.keys(labels),
      registers,
      async collect() {
        const found = await value();
        if (found === undefined) created.remove(labels);
        else created.set(labels, found);
      },
    });
  };
  gauge('store_up', 'Whether the server accepts plants and the store responds: 1 or 0', async () =>
    Number(await isReady()),
  );

  const onEnd = (event: unknown): void => {
    const { status = 'none', error = 'none', durationMs } = event as RequestEndEvent;
    requests.inc({ status, error });
    requestDurations.observe(durationMs / 1_000);
  };
  subscribe(channelName, onEnd);

  return {
    onCommit: ({ plants, durationMs }) => {
      commitPlants.observe(plants);
      commitDurations.observe(durationMs / 1_000);
    },
    measure({ server, store, settings }) {
      const { database, maxInFlight, maxConnections } = settings;
      gauge('requests_in_flight', 'Requests in flight', () => server.usage().inFlight);
      gauge('requests_in_flight_limit', 'The setting --max-in-flight', () => maxInFlight);
      gauge('connections', 'Open connections', () => server.usage().connections);
      gauge('connections_limit', 'The setting --max-connections', () => maxConnections);
      gauge('plants_waiting', 'Plants that wait for the store', () => store.waiting());
      const { walSize } = store;
      if (walSize !== undefined) {
        // A check, such as that of store_up, writes to the WAL.
        gauge('sqlite_wal_bytes', "Size of SQLite's WAL", async () => isReady().then(walSize));
      }
      gauge('build_info', 'Version of the server and of Node, and kind of database', () => 1, {
        version: version(),
        node: process.version,
        database: database.kind,
      });
    },
    read: async () => register.metrics(),
    contentType: register.contentType,
    stop() {
      unsubscribe(channelName, onEnd);
    },
  };
}

export async function loadPrometheus(): Promise<Result<Prometheus, string>> {
  const feature = '--metrics on (PLANTSTORE_METRICS)';
  const loaded = await loadOptional('prom-client', feature, async () => import('prom-client'));
  return loaded.andThen((prometheus) =>
    callsCollect(prometheus)
      ? ok(prometheus)
      : err(`${feature} requires prom-client 13 or newer: npm install prom-client@latest`),
  );
}

/** Returns whether gauges are set as they are read. With prom-client 12, each would be 0. */
function callsCollect({ Gauge }: Prometheus): boolean {
  return 'collect' in new Gauge({ name: 'any', help: 'any', registers: [], collect() {} });
}
