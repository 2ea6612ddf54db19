import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { RequestEndEvent, RunningServer } from '@plantstore/server';
import { err, ok, type Result } from 'neverthrow';
import type { Registry } from 'prom-client';
import { loadOptional } from '../load-optional.ts';
import type { Store, StoreOptions } from '../open-store.ts';
import { variableOf } from '../settings/setting-table.ts';
import type { Settings } from '../settings/settings.ts';
import { version } from '../version.ts';
import type { MetricsPage } from './health-server.ts';

export function createMetrics(
  { Counter, Gauge, Histogram, Registry, collectDefaultMetrics }: Prometheus,
  isReady: () => Promise<boolean>,
): Metrics {
  const register = new Registry();
  const registers: [Registry] = [register];
  collectDefaultMetrics({ register });
  // promtool does not accept the names of these gauges.
  for (const kind of ['resources', 'handles', 'requests'])
    register.removeSingleMetric(`nodejs_active_${kind}_total`);

  const requests = new Counter({
    name: 'plantstore_requests_total',
    help: 'Requests by the status and the error number of the response, or "none"',
    labelNames: ['status', 'error'],
    registers,
  });
  const [requestSeconds, commitSeconds, commitPlants] = [
    histogram('request_duration_seconds', secondBuckets, requestSecondsHelp),
    histogram('commit_duration_seconds', secondBuckets, commitSecondsHelp),
    histogram('commit_plants', plantBuckets, 'Plants that a batch has stored or compared'),
  ];
  addGauges({ store_up: [storeUpHelp, async () => Number(await isReady())] });
  subscribe(channelName, onEnd);
  return {
    onCommit({ plants, durationMs }) {
      if (plants > 0) commitPlants.observe(plants);
      commitSeconds.observe(durationMs / 1_000);
    },
    measure: (started) => addGauges(gaugesOf(started, isReady)),
    read: async () => register.metrics(),
    contentType: register.contentType,
    stop: () => void unsubscribe(channelName, onEnd),
  };

  function onEnd(event: unknown): void {
    const { status = 'none', error = 'none', durationMs } = event as RequestEndEvent;
    requests.inc({ status, error });
    requestSeconds.observe(durationMs / 1_000);
  }

  function histogram(name: string, buckets: number[], help: string) {
    return new Histogram({ name: `plantstore_${name}`, help, buckets, registers });
  }

  function addGauges(gauges: Gauges): void {
    for (const [name, [help, read, labels = {}]] of Object.entries(gauges)) {
      const gauge = new Gauge({
        name: `plantstore_${name}`,
        help,
        labelNames: Object.keys(labels),
        registers,
        async collect() {
          const value = await read();
          if (value === undefined) gauge.remove(labels);
          else gauge.set(labels, value);
        },
      });
    }
  }
}

export type Prometheus = typeof import('prom-client');

export type Metrics = MetricsPage & {
  readonly onCommit: NonNullable<StoreOptions['onCommit']>;
  /** Adds the gauges of a started server. */
  readonly measure: (started: StartedServer) => void;
  readonly stop: () => void;
};

type StartedServer = {
  readonly server: RunningServer;
  readonly store: Store;
  readonly settings: Pick<Settings, 'database' | 'maxInFlight' | 'maxConnections'>;
};

/** Gauges by name, each read when the metrics are. */
type Gauges = Readonly<Record<string, GaugeRow>>;
type GaugeRow = readonly [help: string, read: () => Value | Promise<Value>, labels?: Labels];
/** `undefined` is no sample. */
type Value = number | undefined;
type Labels = Readonly<Record<string, string>>;

function gaugesOf(
  { server, store, settings }: StartedServer,
  isReady: () => Promise<boolean>,
): Gauges {
  const { walSize } = store;
  // A check, such as that of store_up, writes to the WAL.
  const readWalSize = async () => isReady().then(walSize);
  const { kind } = settings.database;
  const labels = { version: version(), node: process.version, database: kind };
  return {
    requests_in_flight: ['Requests in flight', () => server.usage().inFlight],
    requests_in_flight_limit: ['The setting --max-in-flight', () => settings.maxInFlight],
    connections: ['Open connections', () => server.usage().connections],
    connections_limit: ['The setting --max-connections', () => settings.maxConnections],
    plants_waiting: ['Plants that wait for the store', () => store.waiting()],
    ...(walSize && { sqlite_wal_bytes: ["Size of SQLite's WAL", readWalSize] as GaugeRow }),
    build_info: ['Version of the server and of Node, and kind of database', () => 1, labels],
  };
}

const storeUpHelp = 'Whether the server accepts plants and the store responds: 1 or 0';
const requestSecondsHelp = 'Time from the head of a request to the end of its response';
const commitSecondsHelp = 'Time that the store takes to commit a batch of plants';

/** From a commit on a fast disk to the longest timeout. */
const secondBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const plantBuckets = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];

const channelName = 'plantstore:request:end';

export async function loadPrometheus(): Promise<Result<Prometheus, string>> {
  const feature = `--metrics on (${variableOf('metrics')})`;
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
