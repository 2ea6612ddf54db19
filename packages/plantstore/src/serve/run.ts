import { type EventEmitter, once } from 'node:events';
import type { Writable } from 'node:stream';
import { ok, type Result } from 'neverthrow';
import type { HealthOptions, HealthServer } from './health-server.ts';
import { createLog, type LogFormat } from '../log/log.ts';
import { loadStartInputs, type StartFailure } from './load-start-inputs.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createReadiness, type Readiness } from './readiness.ts';
import type { HandedSockets } from '../settings/handed-sockets.ts';
import type { Invocation, Settings } from '../settings/settings.ts';
import { createStop, unlessAborted } from './stop.ts';
import { writeMessages } from '../settings/write-messages.ts';
import type { ProgramContext, StartedProgram } from './start-program.ts';
import { stoppingMessage } from '../log/log-messages.ts';

export type ProgramProcess = {
  /** Receives the log. */
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly hasColors?: () => boolean };
  /** Receives startup errors and the generated token, which must not be logged. */
  readonly stderr: Writable;
  /** Emits signals and uncaughtException, as `process` does. */
  readonly signals: EventEmitter;
  /**
   * Ends the process with status 1 although a thread of the store may hang: after a second signal,
   * the deadline or an uncaught exception.
   */
  readonly endAtOnce: () => void;
};

/** Minimum time for a reader of the log that is slow to receive the last lines, in milliseconds. */
const minLogTimeoutMs = 1_000;

/** Runs the server and returns its exit status when it has stopped; see `main`. */
export async function run(
  { settings, sockets, warnings }: Invocation & { readonly kind: 'run' | 'check-settings' },
  { stdout, stderr, signals, endAtOnce }: ProgramProcess,
): Promise<number> {
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
  const stop = createStop(signals, log);
  const atOnce = stop.atOnce.signal;
  let stoppingAt = -Infinity;
  stop.requested.addEventListener('abort', () => {
    stoppingAt = performance.now();
  });
  const readiness = createReadiness(log);
  const { isReady } = readiness;
  let health: HealthServer | undefined;
  let metrics: Metrics | undefined;
  try {
    try {
      const loaded = await unlessAborted(atOnce, loadStartInputs(settings, sockets));
      if (loaded.isErr()) return fail(loaded.error);
      const { prometheus } = loaded.value;
      metrics = prometheus && createMetrics(prometheus, isReady);
      const opened = await openHealth({ isReady, metrics, log }, settings, sockets);
      if (opened.isErr()) return fail(opened.error);
      health = opened.value;
      const context: ProgramContext = {
        settings,
        sockets,
        loaded: loaded.value,
        log,
        stderr,
        stop,
        healthUrl: health?.url,
        metrics,
      };
      // Imported dynamically, because a command needs no HTTP.
      const starting = import('./start-program.ts').then(async (all) => all.startProgram(context));
      const started = await unlessAborted(atOnce, starting);
      if (started.isErr()) return fail(started.error);
      // After the first line, which names the URL.
      logWarnings();
      await serveUntilStopped(started.value, context, readiness);
      return 0;
    } finally {
      health?.close();
      metrics?.stop();
      // Until the deadline of the stop. A second signal or an exception ends the wait at once.
      const remainingMs = settings.shutdownTimeoutMs - (performance.now() - stoppingAt);
      await unlessAborted(atOnce, log.end(Math.max(minLogTimeoutMs, remainingMs)));
    }
  } catch (thrown) {
    if (thrown !== atOnce.reason) throw thrown;
    endAtOnce();
    return 1;
  } finally {
    stop.removeListeners();
  }
}

async function openHealth(
  options: HealthOptions,
  { host, healthPort }: Settings,
  { health: fd }: HandedSockets,
): Promise<Result<HealthServer | undefined, StartFailure>> {
  if (fd === undefined && healthPort === undefined) return ok(undefined);
  const isHanded = fd !== undefined;
  const { startHealth } = await import('./health-server.ts');
  const started = await startHealth(options, isHanded ? { fd } : { host, port: healthPort ?? 0 });
  const source = isHanded ? 'LISTEN_FDS' : '--health-port, PLANTSTORE_HEALTH_PORT';
  return started.mapErr((message) => ({
    messages: [`cannot serve health (${source}): ${message}`],
    status: isHanded ? 2 : 1,
  }));
}

/** Maximum time for the store to close after the requests in flight, in milliseconds. */
const maxCloseTimeoutMs = 5_000;

/** Resolves after a graceful stop, or rejects if the process has to end at once. */
async function serveUntilStopped(
  { server, store }: StartedProgram,
  { settings, log, stop }: ProgramContext,
  readiness: Readiness,
): Promise<void> {
  const { requested, atOnce } = stop;
  const { shutdownTimeoutMs } = settings;
  readiness.start(async () => store.check());
  try {
    if (!requested.aborted) await unlessAborted(atOnce.signal, once(requested, 'abort'));
  } finally {
    // First, so that load balancers send requests elsewhere.
    readiness.stop();
  }
  log.info({}, stoppingMessage);
  await unlessAborted(atOnce.signal, server.close(shutdownTimeoutMs));
  const closeTimeoutMs = Math.min(maxCloseTimeoutMs, shutdownTimeoutMs);
  const timer = setTimeout(() => {
    log.error({}, 'stopped at once: the store could not be closed in time');
    atOnce.abort();
  }, closeTimeoutMs);
  await unlessAborted(atOnce.signal, store.close()).finally(() => clearTimeout(timer));
  log.info({}, 'stopped');
}
