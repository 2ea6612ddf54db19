import type { Writable } from 'node:stream';
import { createTokenSet } from '../accept-tokens.ts';
import type { Logger } from '../logger.ts';
import { type RunningServer, startServer } from '../start-server.ts';
import { warnOfExpiredTokens } from './expired-tokens.ts';
import { generateToken } from './generate-token.ts';
import { loadTls } from './load-tls.ts';
import { loadTokens } from './load-tokens.ts';
import { isLoopback } from './loopback.ts';
import type { Metrics } from './metrics.ts';
import { type OpenedStore, openStore } from './open-store.ts';
import { createReload } from './reload.ts';
import { databaseName } from './setting-table.ts';
import type { Settings } from './settings.ts';
import type { Signals } from './signals.ts';

/** Dependencies of the host. */
export type HostParts = {
  readonly settings: Settings;
  readonly log: Logger;
  /** Receives the generated token. */
  readonly stderr: Writable;
  readonly signals: Signals;
  /** URL of the health server, if there is one. */
  readonly healthUrl: string | undefined;
  readonly metrics: Metrics | undefined;
};

/** A server that accepts requests, and its store. */
export type StartedHost = {
  readonly kind: 'started';
  readonly server: RunningServer;
  readonly store: OpenedStore & { readonly kind: 'opened' };
};

/** Why the host could not start, as a message for the operator. */
export type HostFailure = { readonly kind: 'failed'; readonly message: string };

const failed = (message: string): HostFailure => ({ kind: 'failed', message });

const logStart = ({ settings, log, healthUrl }: HostParts, url: string): void => {
  const { host, tlsCert } = settings;
  const health = healthUrl === undefined ? {} : { health: healthUrl };
  const database = databaseName(settings.database);
  log.info({ url, database, pid: process.pid, ...health }, 'accepting plants');
  if (tlsCert !== undefined || isLoopback(host)) return;
  log.warn(
    { host },
    'tokens are sent unencrypted: set --tls-cert and --tls-key, or put a proxy with TLS in front of this port',
  );
};

/** Starts everything except the health server. A failure is one line. */
export const startHost = async (parts: HostParts): Promise<StartedHost | HostFailure> => {
  const { settings, log, stderr, signals, metrics } = parts;
  const tls = await loadTls(settings);
  if (tls.kind === 'cannot-load') return failed(tls.message);
  const loaded = await loadTokens(settings);
  if (loaded.kind === 'cannot-load') return failed(loaded.message);
  const store = await openStore(settings.database, log, metrics && { onCommit: metrics.onCommit });
  if (store.kind === 'cannot-open') return failed(store.message);
  const tokens = createTokenSet(loaded.tokens);
  const started = await startServer({
    ...settings,
    corsOrigins: settings.corsOrigins ?? [],
    corsAllowedHeaders: settings.corsAllowedHeaders ?? [],
    trustedProxies: settings.trustedProxies ?? [],
    ...(tls.kind === 'loaded' && { tls: tls.tls }),
    repository: store.repository,
    authenticate: tokens.authenticate,
    logger: log,
  });
  if (started.kind === 'cannot-listen') {
    await store.close();
    const sharing = settings.reusePort ? '; --reuse-port, PLANTSTORE_REUSE_PORT' : '';
    return failed(
      `cannot serve plants (--host, PLANTSTORE_HOST; --port, PLANTSTORE_PORT${sharing}): ${started.message}`,
    );
  }
  const { server } = started;
  metrics?.measure({ server, store, settings });
  logStart(parts, server.url);
  if (settings.tokensFile === undefined && settings.tokens === undefined)
    generateToken(tokens, server.url, stderr);
  warnOfExpiredTokens(loaded.tokens, log);
  signals.onHangUp(createReload({ settings, tokens, server, log }));
  return { kind: 'started', server, store };
};
