import type { Writable } from 'node:stream';
import { err, ok, type Result } from 'neverthrow';
import { createTokenSet } from './token-set.ts';
import type { Logger } from '../../http/logger.ts';
import { type RunningServer, startServer } from '../../node/start-server.ts';
import { warnOfExpiredTokens } from './expired-tokens.ts';
import { generateToken } from './generate-token.ts';
import { loadTls } from './load-tls.ts';
import { loadTokens } from './load-tokens.ts';
import { isLoopback } from './loopback.ts';
import { warnOfFewOpenFiles } from './open-files.ts';
import type { Metrics } from './metrics.ts';
import { openStore, type Store } from '../open-store.ts';
import { createReload } from './reload.ts';
import { databaseName } from '../settings/setting-table.ts';
import type { Settings } from '../settings/settings.ts';
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
export type StartedHost = { readonly server: RunningServer; readonly store: Store };

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

/** Starts everything except the health server. The error is a message of one line for the operator. */
export const startHost = async (parts: HostParts): Promise<Result<StartedHost, string>> => {
  const { settings, log, stderr, signals, metrics } = parts;
  const tls = await loadTls(settings);
  if (tls.isErr()) return err(tls.error);
  const loaded = await loadTokens(settings);
  if (loaded.isErr()) return err(loaded.error);
  const opened = await openStore(settings.database, log, metrics && { onCommit: metrics.onCommit });
  if (opened.isErr()) return err(opened.error);
  const store = opened.value;
  const tokens = createTokenSet(loaded.value);
  const started = await startServer({
    ...settings,
    corsOrigins: settings.corsOrigins ?? [],
    corsAllowedHeaders: settings.corsAllowedHeaders ?? [],
    trustedProxies: settings.trustedProxies ?? [],
    ...(tls.value && { tls: tls.value }),
    repository: store,
    authenticate: tokens.authenticate,
    logger: log,
  });
  if (started.kind === 'cannot-listen') {
    await store.close();
    const sharing = settings.reusePort ? '; --reuse-port, PLANTSTORE_REUSE_PORT' : '';
    return err(
      `cannot serve plants (--host, PLANTSTORE_HOST; --port, PLANTSTORE_PORT${sharing}): ${started.message}`,
    );
  }
  const { server } = started;
  metrics?.measure({ server, store, settings });
  logStart(parts, server.url);
  if (settings.tokensFile === undefined && settings.tokens === undefined)
    generateToken(tokens, server.url, stderr);
  warnOfExpiredTokens(loaded.value, log);
  await warnOfFewOpenFiles(settings.maxConnections, log);
  signals.onHangUp(createReload({ settings, tokens, server, log }));
  return ok({ server, store });
};
