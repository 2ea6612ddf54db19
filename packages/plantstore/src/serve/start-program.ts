import type { Writable } from 'node:stream';
import { err, ok, type Result } from 'neverthrow';
import { type Logger, type RunningServer, startServer } from '@plantstore/server';
import { generateToken } from './generate-token.ts';
import { cannotServe, type StartInputs, type StartFailure } from './load-start-inputs.ts';
import { isLoopback } from './loopback.ts';
import type { Metrics } from './metrics.ts';
import { openStore, type Store } from '../open-store.ts';
import { createReload } from './reload.ts';
import type { HandedSockets } from '../settings/handed-sockets.ts';
import { databaseName } from '../settings/setting-table.ts';
import type { Settings } from '../settings/settings.ts';
import { type TokenSet, warnOfExpiredTokens } from '../settings/token-set.ts';
import type { Stop } from './stop.ts';
import { acceptingMessage } from '../log/log-messages.ts';

/** The settings of a start and what was created before it. */
export type ProgramContext = {
  readonly settings: Settings;
  readonly sockets: HandedSockets;
  readonly loaded: StartInputs;
  readonly log: Logger;
  readonly stderr: Writable;
  readonly stop: Stop;
  readonly healthUrl: string | undefined;
  readonly metrics: Metrics | undefined;
};

/** A server that accepts requests, and its store. */
export type StartedProgram = { readonly server: RunningServer; readonly store: Store };

/** Opens the store and starts everything except the health server. */
export async function startProgram(
  context: ProgramContext,
): Promise<Result<StartedProgram, StartFailure>> {
  const { settings, sockets, loaded, log, stderr, stop, metrics } = context;
  const opened = await openStore(settings.database, log, metrics && { onCommit: metrics.onCommit });
  if (opened.isErr()) return err({ messages: [opened.error], status: 1 });
  const store = opened.value;
  let { tokens } = loaded;
  const accept = (others: TokenSet) => {
    tokens = others;
  };
  const started = await startServer({
    ...settings,
    ...(sockets.plants !== undefined && { fd: sockets.plants }),
    corsOrigins: settings.corsOrigins ?? [],
    corsAllowedHeaders: settings.corsAllowedHeaders ?? [],
    trustedProxies: settings.trustedProxies ?? [],
    ...(loaded.tls && { tls: loaded.tls }),
    repository: store,
    authenticate: (token) => tokens.authenticate(token),
    logger: log,
  });
  if (started.kind === 'cannot-listen') {
    await store.close();
    const message = cannotServe(settings, sockets, started.message);
    return err({ messages: [message], status: sockets.plants === undefined ? 1 : 2 });
  }
  const { server } = started;
  metrics?.measure({ server, store, settings });
  logStart(context, server, store);
  if (settings.tokensFile === undefined && settings.tokens === undefined)
    accept(generateToken(server.url, stderr));
  warnOfExpiredTokens(loaded.tokens, log);
  const signal = AbortSignal.any([stop.requested, stop.atOnce.signal]);
  stop.onHangUp(createReload({ ...loaded, settings, accept, server, log, signal }));
  return ok({ server, store });
}

function logStart(
  { settings, sockets, log, healthUrl }: ProgramContext,
  { url, host }: RunningServer,
  { table }: Store,
): void {
  const health = healthUrl === undefined ? {} : { health: healthUrl };
  const database = databaseName(settings.database);
  log.info(
    { url, database, ...(table !== undefined && { table }), pid: process.pid, ...health },
    sockets.plants === undefined
      ? acceptingMessage
      : `${acceptingMessage} on the handed-over socket (LISTEN_FDS)`,
  );
  if (settings.tlsCert !== undefined || isLoopback(host)) return;
  log.warn(
    { host },
    'tokens are sent unencrypted: set --tls-cert and --tls-key, or put a proxy with TLS in front of this port',
  );
}
