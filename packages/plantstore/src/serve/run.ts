import type { EventEmitter } from 'node:events';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { ok, type Result } from 'neverthrow';
import { describeCause } from '@plantstore/server';
import type { HealthOptions, HealthServer } from './health-server.ts';
import { createLog, type LogFormat } from '../log/log.ts';
import { loadStartInputs, type StartFailure } from './load-start-inputs.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createReadiness, type Readiness } from './readiness.ts';
import type { HandedSockets } from '../settings/handed-sockets.ts';
import type { Invocation, Settings } from '../settings/settings.ts';
import { listenForSignals } from './signals.ts';
import { writeMessages } from '../settings/write-messages.ts';
import type { ProgramContext, StartedProgram } from './start-program.ts';
import { stoppingMessage } from '../log/log-messages.ts';

/** The streams and signals of the process. */
export type ProgramProcess = {
  /** Receives the log. */
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly hasColors?: () => boolean };
  /** Receives startup errors and the generated token, which must not be logged. */
  readonly stderr: Writable;
  /** Emits signals and uncaughtException, as `process` does. */
  readonly signals: EventEmitter;
};

/** Maximum time for the store to close after the requests in flight, in milliseconds. */
const maxCloseTimeoutMs = 5_000;

/** Minimum time for a reader of the log that is slow to receive the last lines, in milliseconds. */
const minLogTimeoutMs = 1_000;

const serveUntilStopped = async (
  started: StartedProgram,
  { settings, log, signals }: ProgramContext,
  readiness: Readiness,
): Promise<number | 'at once'> => {
  readiness.start(async () => started.store.check());
  const event = await Promise.race([signals.stop, signals.crash]);
  // First, so that load balancers send requests elsewhere.
  readiness.stop();
  // Closes nothing, because the state of the process is unknown; acknowledged plants are on the disk.
  if (event === 'crash') return 'at once';
  log.info({}, stoppingMessage);
  const { shutdownTimeoutMs } = settings;
  const closeTimeoutMs = Math.min(maxCloseTimeoutMs, shutdownTimeoutMs);
  const finish = async () => {
    await started.server.close(shutdownTimeoutMs);
    return Promise.race([
      started.store.close().then(() => 'finished' as const),
      sleep(closeTimeoutMs, 'hanging' as const, { ref: false }),
    ]);
  };
  const ended = await Promise.race([finish(), signals.stopAtOnce, signals.crash]);
  switch (ended) {
    case 'finished':
      log.info({}, 'stopped');
      return 0;
    case 'at once':
      log.warn({}, 'stopped at once');
      return 'at once';
    case 'hanging':
      log.error({}, 'stopped at once: the store could not be closed in time');
      return 'at once';
    case 'crash':
      return 'at once';
  }
};

/** Starts the health server, if the settings or a handed-over socket ask for it. */
const openHealth = async (
  options: HealthOptions,
  { host, healthPort }: Settings,
  { health: fd }: HandedSockets,
): Promise<Result<HealthServer | undefined, StartFailure>> => {
  if (fd === undefined && healthPort === undefined) return ok(undefined);
  const isHanded = fd !== undefined;
  const { startHealth } = await import('./health-server.ts');
  const started = await startHealth(options, isHanded ? { fd } : { host, port: healthPort ?? 0 });
  const source = isHanded ? 'LISTEN_FDS' : '--health-port, PLANTSTORE_HEALTH_PORT';
  return started.mapErr((message) => ({
    messages: [`cannot serve health (${source}): ${message}`],
    status: isHanded ? 2 : 1,
  }));
};

/** Runs the server and returns its exit status when it has stopped; see `main`. */
export const run = async (
  { settings, sockets, warnings }: Invocation & { readonly kind: 'run' },
  programProcess: ProgramProcess,
): Promise<number | 'at once'> => {
  const { stdout, stderr } = programProcess;
  const format: LogFormat = settings.log ?? (stdout.isTTY === true ? 'pretty' : 'json');
  // Only terminals have colours; hasColors() respects NO_COLOR.
  const log = createLog(format, stdout, stdout.hasColors?.());
  const logWarnings = () => {
    for (const warning of warnings) log.warn({}, warning);
  };
  const fail = ({ messages, status }: StartFailure): number => {
    logWarnings();
    writeMessages(stderr, messages);
    return status;
  };
  const signals = listenForSignals(
    programProcess.signals,
    (thrown) => {
      // A value that is not an Error may be a request with its token.
      const cause = thrown instanceof Error ? describeCause(thrown) : typeof thrown;
      log.error({ cause }, 'uncaught exception: ending with status 1');
    },
    (signal) => log.info({ signal }, 'a signal was ignored: SIGTERM stops the server'),
  );
  const readiness = createReadiness(log);
  const { isReady } = readiness;
  let health: HealthServer | undefined;
  let metrics: Metrics | undefined;
  let stoppingAt = -Infinity;
  void signals.stop.then(() => {
    stoppingAt = performance.now();
  });
  const orStopped = async <T>(starting: Promise<T>) =>
    Promise.race([starting, signals.stopAtOnce, signals.crash]);
  try {
    const loaded = await orStopped(loadStartInputs(settings, sockets));
    if (loaded === 'at once' || loaded === 'crash') return 'at once';
    if (loaded.isErr()) return fail(loaded.error);
    const { prometheus } = loaded.value;
    metrics = prometheus && createMetrics(prometheus, isReady);
    const opened = await openHealth({ isReady, metrics, log }, settings, sockets);
    if (opened.isErr()) return fail(opened.error);
    health = opened.value;
    const context = {
      settings,
      sockets,
      loaded: loaded.value,
      log,
      stderr,
      signals,
      healthUrl: health?.url,
      metrics,
    };
    // Imported dynamically, because a command needs no HTTP.
    const starting = import('./start-program.ts').then(async (all) => all.startProgram(context));
    const started = await orStopped(starting);
    if (started === 'at once' || started === 'crash') return 'at once';
    if (started.isErr()) return fail(started.error);
    // After the first line, which names the URL.
    logWarnings();
    return await serveUntilStopped(started.value, context, readiness);
  } finally {
    health?.close();
    metrics?.stop();
    // The deadline of the stop is the reader's, too. A second signal or an exception ends the process at once.
    const remainingMs = settings.shutdownTimeoutMs - (performance.now() - stoppingAt);
    const written = log.end(Math.max(minLogTimeoutMs, remainingMs));
    await Promise.race([written, signals.stopAtOnce, signals.crash]);
    signals.removeListeners();
  }
};
