import type { Logger, RunningServer } from '@plantstore/server';
import { err, ok, type Result } from 'neverthrow';
import type { Settings } from '../settings/settings.ts';
import { type TokenSet, warnOfExpiredTokens } from '../settings/token-set.ts';
import { loadTls, loadTokens } from './inputs.ts';
import { notRereadMessage, rereadMessage } from './log-messages.ts';
import { watchFiles } from './watch-files.ts';

/**
 * Reads the tokens, and the certificate and its key, again when their files change. What cannot be
 * used changes nothing.
 *
 * @returns a function that reads them now
 */
export function renewFiles(options: RenewalOptions): () => void {
  const { settings, log, signal, intervalMs = 2_000 } = options;
  const { tokensFile, tlsCert, tlsKey } = settings;
  const rereadTokens = watchFiles([tokensFile], {
    renew: async () => renewTokens(options),
    onFault: (reason) => log.error({ reason }, notRereadMessage),
    signal,
    intervalMs,
  });
  const rereadTls = watchFiles([tlsCert, tlsKey], {
    renew: async () => renewTls(options),
    onFault: (reason) =>
      log.error({ reason }, 'the certificate could not be reread; the previous one stays in use'),
    signal,
    intervalMs,
  });
  return () => {
    if (tokensFile === undefined) void logKeptTokens(options);
    rereadTokens();
    rereadTls();
  };
}

export type RenewalOptions = {
  readonly settings: Pick<Settings, 'tokensFile' | 'tokens' | 'tlsCert' | 'tlsKey'>;
  /** Replaces the accepted tokens, from the next request on. */
  readonly accept: (tokens: TokenSet) => void;
  /** Nothing is renewed before the server accepts requests. */
  readonly server: Promise<RunningServer>;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Time between two looks for changed files, in milliseconds. Default: 2000 (2 seconds). */
  readonly intervalMs?: number;
};

async function logKeptTokens({ settings, server, log }: RenewalOptions): Promise<void> {
  await server;
  const from = settings.tokens === undefined ? 'were generated' : 'are from PLANTSTORE_TOKENS';
  log.info({}, `the tokens ${from} and stay in use: only a --tokens-file can be reread`);
}

async function renewTokens(options: RenewalOptions): Promise<Result<void, string>> {
  const { settings, server, accept, log } = options;
  await server;
  const loaded = await loadTokens(settings);
  if (loaded.isErr()) return err(loaded.error);
  accept(loaded.value);
  log.info({ tokens: loaded.value.entries.length }, rereadMessage);
  warnOfExpiredTokens(loaded.value, log);
  return ok();
}

async function renewTls(options: RenewalOptions): Promise<Result<void, string>> {
  const { renewTls: renew } = await options.server;
  const loaded = await loadTls(options.settings);
  return loaded.andThen((tls) => {
    const renewed = tls && renew(tls);
    if (renewed?.kind === 'not-renewed') return err(renewed.message);
    if (renewed !== undefined) options.log.info({}, 'the certificate was reread');
    return ok();
  });
}
