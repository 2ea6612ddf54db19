import type { EventEmitter } from 'node:events';
import type { Writable } from 'node:stream';
import { ok } from 'neverthrow';
import { describeCause } from '../../http/describe-cause.ts';
import { createTimeouts, undefinedAfterTimeout } from '../../http/timeouts.ts';
import { startHealth } from './health-server.ts';
import { createLog, type LogFormat } from '../log.ts';
import { loadMetrics } from './metrics.ts';
import { createReadiness, type Readiness } from './readiness.ts';
import type { Invocation } from '../settings/settings.ts';
import { listenForSignals } from './signals.ts';
import { writeMessages } from '../settings/write-messages.ts';
import { type HostParts, startHost, type StartedHost } from './start-host.ts';

/** The streams and signals of the process. */
export type HostProcess = {
  /** Receives the log. */
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly hasColors?: () => boolean };
  /** Receives startup errors and the generated token, which must not be logged. */
  readonly stderr: Writable;
  /** Emits signals and uncaughtException, as `process` does. */
  readonly signals: EventEmitter;
};

/** Timeout of closing the store after a crash, in milliseconds. */
const crashCloseMs = 1_000;

/** Stops serving and closes the store, because the state of the process is unknown. */
const endAfterCrash = async ({ server, store }: StartedHost): Promise<number> => {
  const closing = Promise.allSettled([server.close(0), store.close()]).then(() => undefined);
  await undefinedAfterTimeout(createTimeouts(crashCloseMs), closing);
  return 1;
};

const serveUntilStopped = async (
  started: StartedHost,
  { settings, log, signals }: HostParts,
  readiness: Readiness,
): Promise<number> => {
  readiness.start(async () => started.store.check());
  const event = await Promise.race([signals.stop, signals.crash]);
  // First, so that load balancers send requests elsewhere.
  readiness.stop();
  signals.onHangUp(undefined);
  if (event === 'crash') return endAfterCrash(started);
  log.info({}, 'stopping: finishing the requests in flight');
  const finish = async () => {
    await started.server.close(settings.shutdownTimeoutMs);
    await started.store.close();
    return 'finished' as const;
  };
  const ended = await Promise.race([finish(), signals.stopAtOnce, signals.crash]);
  switch (ended) {
    case 'finished':
      log.info({}, 'stopped');
      return 0;
    case 'at once':
      log.warn({}, 'stopped at once');
      return 1;
    case 'crash':
      return endAfterCrash(started);
  }
};

/** Runs the host and returns its exit status when it has stopped. */
export const run = async (
  { settings, warnings }: Invocation & { readonly kind: 'run' },
  hostProcess: HostProcess,
): Promise<number> => {
  const { stdout, stderr } = hostProcess;
  const format: LogFormat = settings.log ?? (stdout.isTTY === true ? 'pretty' : 'json');
  // Only terminals have colours; hasColors() respects NO_COLOR.
  const log = createLog(format, stdout, stdout.hasColors?.());
  const fail = (message: string): number => {
    writeMessages(stderr, [message]);
    return 1;
  };
  const signals = listenForSignals(
    hostProcess.signals,
    (thrown) => {
      // A value that is not an Error may be a request with its token.
      const cause = thrown instanceof Error ? describeCause(thrown) : typeof thrown;
      log.error({ cause }, 'uncaught exception: ending with status 1');
    },
    (signal) => log.info({ signal }, 'a signal was ignored: SIGTERM stops the host'),
  );
  const readiness = createReadiness(log);
  const { host, healthPort } = settings;
  const { isReady } = readiness;
  const loaded = settings.metrics ? await loadMetrics(isReady) : ok(undefined);
  const metrics = loaded.unwrapOr(undefined);
  const health =
    healthPort === undefined
      ? ok(undefined)
      : await startHealth({ isReady, metrics, log }, { host, port: healthPort });
  try {
    if (health.isErr()) {
      return fail(`cannot serve health (--health-port, PLANTSTORE_HEALTH_PORT): ${health.error}`);
    }
    if (loaded.isErr()) return fail(loaded.error);
    const parts = { settings, log, stderr, signals, healthUrl: health.value?.url, metrics };
    const started = await Promise.race([startHost(parts), signals.stopAtOnce, signals.crash]);
    // After the first line, which names the URL.
    for (const warning of warnings) log.warn({}, warning);
    if (started === 'at once' || started === 'crash') return 1;
    if (started.isErr()) return fail(started.error);
    return await serveUntilStopped(started.value, parts, readiness);
  } finally {
    if (health.isOk()) await health.value?.close();
    metrics?.stop();
    signals.removeListeners();
    log.flush();
  }
};
