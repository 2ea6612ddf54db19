import { lookup } from 'node:dns/promises';
import { err, ok, Result } from 'neverthrow';
import type { TlsOptions } from '@plantstore/server';
import type { HandedSockets } from '../settings/handed-sockets.ts';
import type { Settings } from '../settings/settings.ts';
import { shown } from '../settings/text.ts';
import type { TokenSet } from '../settings/token-set.ts';
import { loadPrometheus, type Prometheus } from './metrics.ts';
import { loadTls } from './load-tls.ts';
import { loadTokens } from './load-tokens.ts';
import { watchFiles, type WatchedFiles } from './watched-files.ts';

/** Why the server cannot start: messages of one line for the operator, and the exit status. */
export type StartFailure = {
  readonly messages: readonly string[];
  /** 2 if the next start would fail, too. */
  readonly status: 1 | 2;
};

/** What a start reads before it opens the database and its sockets. */
export type StartInputs = {
  readonly tls: TlsOptions | undefined;
  readonly tokens: TokenSet;
  readonly prometheus: Prometheus | undefined;
  readonly watchedTokens: WatchedFiles;
  readonly watchedTls: WatchedFiles;
};

/** Reads everything that the settings name except the database. All failures are reported together. */
export async function loadStartInputs(
  settings: Settings,
  sockets: HandedSockets,
): Promise<Result<StartInputs, StartFailure>> {
  const host = await resolveHost(settings, sockets);
  const watchedTokens = watchFiles(settings.tokensFile);
  const watchedTls = watchFiles(settings.tlsCert, settings.tlsKey);
  await Promise.all([watchedTokens.markRead(), watchedTls.markRead()]);
  return Result.combineWithAllErrors([
    host,
    await loadTls(settings),
    await loadTokens(settings),
    settings.metrics ? await loadPrometheus() : ok(undefined),
  ])
    .map(([, tls, tokens, prometheus]) => ({ tls, tokens, prometheus, watchedTokens, watchedTls }))
    .mapErr((messages) => ({ messages, status: host.isErr() ? 2 : 1 }));
}

/** Resolves the host: a start with a wrong name would fail after it has opened the database. */
async function resolveHost(
  settings: Settings,
  sockets: HandedSockets,
): Promise<Result<void, string>> {
  const { host, healthPort } = settings;
  const opensHealth = healthPort !== undefined && sockets.health === undefined;
  if (sockets.plants !== undefined && !opensHealth) return ok();
  try {
    await lookup(host);
    return ok();
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const reason =
      code === 'ENOTFOUND'
        ? `${shown(host)} is an unknown host name; choose another host`
        : `${shown(host)} cannot be resolved: ${message}`;
    return err(
      sockets.plants === undefined
        ? cannotServe(settings, sockets, reason)
        : `cannot serve health (--host, PLANTSTORE_HOST): ${reason}`,
    );
  }
}

/** Returns a message for a socket of plants that cannot be used. */
export function cannotServe(
  { reusePort }: Settings,
  { plants }: HandedSockets,
  message: string,
): string {
  const sharing = reusePort ? '; --reuse-port, PLANTSTORE_REUSE_PORT' : '';
  const source =
    plants === undefined
      ? `--host, PLANTSTORE_HOST; --port, PLANTSTORE_PORT${sharing}`
      : 'LISTEN_FDS';
  return `cannot serve plants (${source}): ${message}`;
}
