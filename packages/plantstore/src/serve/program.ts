import { type EventEmitter, once } from 'node:events';
import type { Writable } from 'node:stream';
import { type RunningServer, startServer, type TlsOptions } from '@plantstore/server';
import { untilWritten } from '../exit-status.ts';
import { createLog, type Log } from '../log/log.ts';
import { openStore, type Store } from '../open-store.ts';
import { databaseName, sourceOf } from '../settings/setting-table.ts';
import type { StartInvocation } from '../settings/settings.ts';
import { createTokenSet, type TokenSet, warnOfExpiredTokens } from '../settings/token-set.ts';
import { writeMessages } from '../settings/write-messages.ts';
import { generateToken } from './generate-token.ts';
import { type HealthServer, startHealth } from './health-server.ts';
import { loadInputs } from './inputs.ts';
import { acceptingMessage, stoppingMessage } from './log-messages.ts';
import { isLoopback } from './loopback.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createReadiness, type Readiness } from './readiness.ts';
import { renewFiles } from './renew-files.ts';
import { listenForSignals } from './signals.ts';
import { within } from './wait.ts';

/**
 * A run of the server, from its start to its stop. It is
 *
 * - `starting`: the files are read, and the health port, the store and the port for plants opened,
 *   in this order. What cannot be used ends it with a status.
 * - `serving`: from the first line of the log on. It is ready whenever the store is available, and
 *   reads its files again. SIGTERM or SIGINT ends it, also one that came before.
 * - `stopping`: requests in flight are finished until the deadline, then the store is closed.
 * - `stopped`: everything is closed, and the last lines of the log are being written.
 *
 * A second signal, an uncaught exception and a store that does not close end it in any state.
 */
export class Program {
  readonly #invocation: StartInvocation;
  readonly #process: ProgramProcess;
  readonly #log: Log;
  readonly #readiness: Readiness;
  readonly #stopRequested = new AbortController();
  readonly #atOnce = new AbortController();
  readonly #running = Promise.withResolvers<RunningServer>();
  #state: 'starting' | 'serving' | 'stopping' | 'stopped' = 'starting';
  #stoppingAt = -Infinity;
  #tokens: TokenSet = createTokenSet([]);
  #health: HealthServer | undefined;
  #metrics: Metrics | undefined;

  constructor(invocation: StartInvocation, process: ProgramProcess) {
    const { stdout } = process;
    this.#invocation = invocation;
    this.#process = process;
    const format = invocation.settings.log ?? (stdout.isTTY === true ? 'pretty' : 'json');
    // Only terminals have colours; hasColors() respects NO_COLOR.
    this.#log = createLog(format, stdout, stdout.hasColors?.());
    this.#readiness = createReadiness(this.#log, () => this.#state === 'serving');
  }

  /** Resolves to the exit status; see `main`. The listeners for signals stay until the exit. */
  async run(): Promise<number> {
    const { signal } = this.#atOnce;
    listenForSignals(this.#process.signals, this.#log, {
      stop: this.#stopRequested,
      atOnce: this.#atOnce,
      reread: this.#watchFiles(),
    });
    const stopped = this.#untilStopped();
    await Promise.race([stopped, once(signal, 'abort')]);
    if (!signal.aborted) return stopped;
    this.#log.flush();
    this.#process.endAtOnce();
    return 1;
  }

  /** Reads files again when they change; returns a function that does it now. */
  #watchFiles(): () => void {
    return renewFiles({
      settings: this.#invocation.settings,
      accept: (tokens) => void (this.#tokens = tokens),
      server: this.#running.promise,
      log: this.#log,
      signal: AbortSignal.any([this.#stopRequested.signal, this.#atOnce.signal]),
    });
  }

  async #untilStopped(): Promise<number> {
    const started = await this.#start();
    if ('server' in started) this.#logStart(started);
    // After the first line, which names the URL.
    for (const warning of this.#invocation.warnings) this.#log.warn({}, warning);
    if ('messages' in started) writeMessages(this.#process.stderr, started.messages);
    const status = 'messages' in started ? (started.status ?? 1) : await this.#serve(started);
    this.#state = 'stopped';
    this.#health?.close();
    this.#metrics?.stop();
    await this.#writeLastLines();
    return status;
  }

  async #start(): Promise<Started | StartFailure> {
    const { settings } = this.#invocation;
    const inputs = await loadInputs(settings);
    if (inputs.isErr()) return { messages: inputs.error };
    const { prometheus, tls, tokens } = inputs.value;
    this.#tokens = tokens;
    this.#metrics = prometheus && createMetrics(prometheus, this.#readiness.isReady);
    const failure = await this.#openHealth();
    if (failure !== undefined) return failure;
    const opened = await openStore(settings.database, this.#log, {
      handlerTimeoutMs: settings.handlerTimeoutMs,
      onCommit: this.#metrics?.onCommit,
    });
    return opened.isErr() ? { messages: [opened.error] } : this.#listen(opened.value, tls);
  }

  async #openHealth(): Promise<StartFailure | undefined> {
    const { settings, sockets } = this.#invocation;
    const { host, healthPort: port } = settings;
    const { health: fd } = sockets;
    if (fd === undefined && port === undefined) return undefined;
    const { isReady } = this.#readiness;
    const target = fd === undefined ? { host, port: port ?? 0 } : { fd };
    const opened = await startHealth({ isReady, metrics: this.#metrics, log: this.#log }, target);
    if (opened.isErr()) return cannotServe('health', fd ?? sourceOf('healthPort'), opened.error);
    this.#health = opened.value;
    return undefined;
  }

  async #listen(store: Store, tls: TlsOptions | undefined): Promise<Started | StartFailure> {
    const { settings, sockets } = this.#invocation;
    const { plants: fd } = sockets;
    const { corsOrigins = [], corsAllowedHeaders = [], trustedProxies = [] } = settings;
    const started = await startServer({
      ...settings,
      ...(fd !== undefined && { fd }),
      ...(tls !== undefined && { tls }),
      corsOrigins,
      corsAllowedHeaders,
      trustedProxies,
      repository: store,
      authenticate: (token) => this.#tokens.authenticate(token),
      logger: this.#log,
    });
    if (started.isOk()) return { server: started.value, store };
    await store.close();
    return cannotServe('plants', fd ?? sourceOf('host', 'port'), started.error.message);
  }

  async #serve(started: Started): Promise<number> {
    const { server, store } = started;
    const { settings } = this.#invocation;
    this.#metrics?.measure({ ...started, settings });
    if (settings.tokensFile === undefined && settings.tokens === undefined)
      this.#tokens = generateToken(server.url, this.#process.stderr);
    warnOfExpiredTokens(this.#tokens, this.#log);
    this.#state = 'serving';
    this.#readiness.start(async () => store.check());
    this.#running.resolve(server);
    const { signal } = this.#stopRequested;
    if (!signal.aborted) await once(signal, 'abort');
    return this.#stop(started);
  }

  #logStart({ server: { url, host }, store: { table } }: Started): void {
    const { settings, sockets } = this.#invocation;
    const health = this.#health?.url;
    const handed = sockets.plants === undefined ? '' : ' on the handed-over socket (LISTEN_FDS)';
    this.#log.info(
      { url, database: databaseName(settings.database), table, pid: process.pid, health },
      acceptingMessage + handed,
    );
    if (settings.tlsCert !== undefined || isLoopback(host)) return;
    const advice = 'set --tls-cert and --tls-key, or put a proxy with TLS in front of this port';
    this.#log.warn({ host }, `tokens are sent unencrypted: ${advice}`);
  }

  async #stop({ server, store }: Started): Promise<number> {
    // First, so that load balancers send requests elsewhere.
    this.#state = 'stopping';
    this.#stoppingAt = performance.now();
    const { shutdownTimeoutMs } = this.#invocation.settings;
    this.#log.info({}, stoppingMessage);
    await server.close(shutdownTimeoutMs);
    const { cut } = server.usage();
    if (!(await within(Math.min(maxCloseTimeoutMs, shutdownTimeoutMs), store.close()))) {
      this.#log.error({}, 'stopped at once: the store could not be closed in time');
      this.#atOnce.abort();
      return 1;
    }
    if (cut === 0) this.#log.info({}, 'stopped');
    else this.#log.error({ requests: cut }, 'stopped at once: requests got no response in time');
    return cut === 0 ? 0 : 1;
  }

  /** Waits until they are written, at most until the deadline of the stop. */
  async #writeLastLines(): Promise<void> {
    const { stdout, stderr } = this.#process;
    this.#log.flush();
    const elapsedMs = performance.now() - this.#stoppingAt;
    const remainingMs = this.#invocation.settings.shutdownTimeoutMs - elapsedMs;
    await within(Math.max(minLogTimeoutMs, remainingMs), untilWritten(stdout, stderr));
  }
}

/** The process in which a program runs. */
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

/** A server that accepts requests, and its store. */
type Started = { readonly server: RunningServer; readonly store: Store };

/** Why the server cannot start, for the operator. */
type StartFailure = {
  readonly messages: readonly string[];
  /** 2 if the next start would fail, too. Default: 1. */
  readonly status?: 2;
};

/** Maximum time for the store to close after the requests in flight, in milliseconds. */
const maxCloseTimeoutMs = 5_000;
/** Minimum time for a slow reader to receive the last lines, in milliseconds. */
const minLogTimeoutMs = 1_000;

/** Returns the failure of a port with its settings, or of a handed-over socket. */
function cannotServe(what: string, source: string | number, message: string): StartFailure {
  return typeof source === 'number'
    ? { messages: [`cannot serve ${what} (LISTEN_FDS): ${message}`], status: 2 }
    : { messages: [`cannot serve ${what} (${source}): ${message}`] };
}
