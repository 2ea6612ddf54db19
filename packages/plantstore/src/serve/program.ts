import { type EventEmitter, once } from 'node:events';
import type { Writable } from 'node:stream';
import { type RunningServer, startServer, type TlsOptions } from '@plantstore/server';
import { untilWritten } from '../exit-status.ts';
import { createLog, type Log } from '../log/log.ts';
import { openStore, type Store } from '../open-store.ts';
import type { HandedSockets } from '../settings/handed-sockets.ts';
import { databaseName, sourceOf } from '../settings/setting-table.ts';
import type { Settings, StartInvocation } from '../settings/settings.ts';
import { createTokenSet, type TokenSet, warnOfExpiredTokens } from '../settings/token-set.ts';
import { writeMessages } from '../settings/write-messages.ts';
import { generateToken } from './generate-token.ts';
import { type HealthServer, startHealth } from './health-server.ts';
import { cannotServe, loadInputs, type StartFailure } from './inputs.ts';
import { acceptingMessage, stoppingMessage } from './log-messages.ts';
import { isLoopback } from './loopback.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createReadiness, type Readiness } from './readiness.ts';
import { renewFiles } from './renew-files.ts';
import { listenForSignals } from './signals.ts';
import { unlessAborted, within } from './wait.ts';

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
  readonly #settings: Settings;
  readonly #sockets: HandedSockets;
  readonly #warnings: readonly string[];
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

  constructor({ settings, sockets, warnings }: StartInvocation, process: ProgramProcess) {
    const { stdout } = process;
    this.#settings = settings;
    this.#sockets = sockets;
    this.#warnings = warnings;
    this.#process = process;
    const format = settings.log ?? (stdout.isTTY === true ? 'pretty' : 'json');
    // Only terminals have colours; hasColors() respects NO_COLOR.
    this.#log = createLog(format, stdout, stdout.hasColors?.());
    this.#readiness = createReadiness(this.#log, () => this.#state === 'serving');
  }

  /** Resolves to the exit status; see `main`. */
  async run(): Promise<number> {
    const { signal } = this.#atOnce;
    const stopListening = listenForSignals(this.#process.signals, this.#log, {
      stop: this.#stopRequested,
      atOnce: this.#atOnce,
      reread: this.#watchFiles(),
    });
    try {
      return await unlessAborted(signal, this.#untilStopped());
    } catch (thrown) {
      if (thrown !== signal.reason) throw thrown;
      this.#log.flush();
      this.#process.endAtOnce();
      return 1;
    } finally {
      this.#closeHealth();
      stopListening();
    }
  }

  /** Reads files again when they change; returns a function that does it now. */
  #watchFiles(): () => void {
    return renewFiles({
      settings: this.#settings,
      accept: (tokens) => {
        this.#tokens = tokens;
      },
      server: this.#running.promise,
      log: this.#log,
      signal: AbortSignal.any([this.#stopRequested.signal, this.#atOnce.signal]),
    });
  }

  async #untilStopped(): Promise<number> {
    const started = await this.#start();
    if ('server' in started) this.#logStart(started);
    // After the first line, which names the URL.
    for (const warning of this.#warnings) this.#log.warn({}, warning);
    const status = 'status' in started ? this.#fail(started) : await this.#serve(started);
    this.#state = 'stopped';
    this.#closeHealth();
    await this.#writeLastLines();
    return status;
  }

  async #start(): Promise<Started | StartFailure> {
    const inputs = await loadInputs(this.#settings, this.#sockets);
    if (inputs.isErr()) return inputs.error;
    const { prometheus, tls, tokens } = inputs.value;
    this.#tokens = tokens;
    this.#metrics = prometheus && createMetrics(prometheus, this.#readiness.isReady);
    const failure = await this.#openHealth();
    if (failure !== undefined) return failure;
    const { database, handlerTimeoutMs } = this.#settings;
    const onCommit = this.#metrics?.onCommit;
    const opened = await openStore(database, this.#log, {
      handlerTimeoutMs,
      ...(onCommit !== undefined && { onCommit }),
    });
    return opened.isErr()
      ? { messages: [opened.error], status: 1 }
      : this.#listen(opened.value, tls);
  }

  async #openHealth(): Promise<StartFailure | undefined> {
    const { host, healthPort: port } = this.#settings;
    const { health: fd } = this.#sockets;
    if (fd === undefined && port === undefined) return undefined;
    const { isReady } = this.#readiness;
    const target = fd === undefined ? { host, port: port ?? 0 } : { fd };
    const options = { isReady, metrics: this.#metrics, log: this.#log };
    const opened = await startHealth(options, target);
    if (opened.isOk()) {
      this.#health = opened.value;
      return undefined;
    }
    const source = fd === undefined ? sourceOf('healthPort') : 'LISTEN_FDS';
    const message = `cannot serve health (${source}): ${opened.error}`;
    return { messages: [message], status: fd === undefined ? 1 : 2 };
  }

  async #listen(store: Store, tls: TlsOptions | undefined): Promise<Started | StartFailure> {
    const { plants: fd } = this.#sockets;
    const { corsOrigins = [], corsAllowedHeaders = [], trustedProxies = [] } = this.#settings;
    const started = await startServer({
      ...this.#settings,
      ...(fd !== undefined && { fd }),
      ...(tls !== undefined && { tls }),
      corsOrigins,
      corsAllowedHeaders,
      trustedProxies,
      repository: store,
      authenticate: (token) => this.#tokens.authenticate(token),
      logger: this.#log,
    });
    if (started.kind === 'running') return { server: started.server, store };
    await store.close();
    const message = cannotServe(this.#settings, this.#sockets, started.message);
    return { messages: [message], status: fd === undefined ? 1 : 2 };
  }

  #fail({ messages, status }: StartFailure): number {
    writeMessages(this.#process.stderr, messages);
    return status;
  }

  async #serve(started: Started): Promise<number> {
    const { server, store } = started;
    this.#metrics?.measure({ ...started, settings: this.#settings });
    const { tokensFile, tokens } = this.#settings;
    if (tokensFile === undefined && tokens === undefined)
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
    const { database, tlsCert } = this.#settings;
    const health = this.#health?.url;
    const handed =
      this.#sockets.plants === undefined ? '' : ' on the handed-over socket (LISTEN_FDS)';
    this.#log.info(
      { url, database: databaseName(database), table, pid: process.pid, health },
      acceptingMessage + handed,
    );
    if (tlsCert !== undefined || isLoopback(host)) return;
    this.#log.warn(
      { host },
      'tokens are sent unencrypted: set --tls-cert and --tls-key, or put a proxy with TLS in front of this port',
    );
  }

  async #stop({ server, store }: Started): Promise<number> {
    // First, so that load balancers send requests elsewhere.
    this.#state = 'stopping';
    this.#stoppingAt = performance.now();
    const { shutdownTimeoutMs } = this.#settings;
    this.#log.info({}, stoppingMessage);
    await server.close(shutdownTimeoutMs);
    const { cut } = server.usage();
    const closeTimeoutMs = Math.min(maxCloseTimeoutMs, shutdownTimeoutMs);
    if (!(await within(closeTimeoutMs, store.close()))) {
      this.#log.error({}, 'stopped at once: the store could not be closed in time');
      this.#atOnce.abort();
    }
    if (cut === 0) this.#log.info({}, 'stopped');
    else this.#log.error({ requests: cut }, 'stopped at the deadline: requests got no response');
    return cut === 0 ? 0 : 1;
  }

  #closeHealth(): void {
    this.#health?.close();
    this.#metrics?.stop();
  }

  /** Waits until they are written, at most until the deadline of the stop. */
  async #writeLastLines(): Promise<void> {
    const { stdout, stderr } = this.#process;
    this.#log.flush();
    const elapsedMs = performance.now() - this.#stoppingAt;
    const remainingMs = this.#settings.shutdownTimeoutMs - elapsedMs;
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

/** Maximum time for the store to close after the requests in flight, in milliseconds. */
const maxCloseTimeoutMs = 5_000;
/** Minimum time for a slow reader to receive the last lines, in milliseconds. */
const minLogTimeoutMs = 1_000;
