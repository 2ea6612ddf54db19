import { unwatchFile, watchFile } from 'node:fs';
import type { Logger, RunningServer } from '@plantstore/server';
import { ok, type Result } from 'neverthrow';
import type { Settings } from '../settings/settings.ts';
import { type TokenSet, warnOfExpiredTokens } from '../settings/token-set.ts';
import { loadTls, loadTokens } from './inputs.ts';
import { notRereadMessage, rereadMessage } from './log-messages.ts';

/**
 * Reads the tokens, and the certificate and its key, again when their files change, also behind a
 * link. What cannot be used changes nothing.
 *
 * @returns a function that reads them now
 */
export function renewFiles(options: RenewalOptions): () => void {
  const { settings, accept, server, log } = options;
  const { tokensFile, tlsCert, tlsKey } = settings;
  const renewals = [
    watchFiles([tokensFile], renewTokens, notRereadMessage, options),
    watchFiles([tlsCert, tlsKey], renewTls, tlsNotRereadMessage, options),
  ];
  return () => {
    if (tokensFile === undefined) void logKeptTokens();
    for (const renew of renewals) renew();
  };

  async function logKeptTokens(): Promise<void> {
    await server;
    const from = settings.tokens === undefined ? 'were generated' : 'are from PLANTSTORE_TOKENS';
    log.info({}, `the tokens ${from} and stay in use: only a --tokens-file can be reread`);
  }

  async function renewTokens(): Promise<Result<void, string>> {
    const loaded = await loadTokens(settings);
    return loaded.andThen((tokens) => {
      accept(tokens);
      log.info({ tokens: tokens.entries.length }, rereadMessage);
      warnOfExpiredTokens(tokens, log);
      return ok();
    });
  }

  async function renewTls(): Promise<Result<void, string>> {
    const loaded = await loadTls(settings);
    const { renewTls: renew } = await server;
    return loaded.andThen((tls) => {
      const renewed = tls === undefined ? ok() : renew(tls);
      if (renewed.isOk()) log.info({}, 'the certificate was reread');
      return renewed.mapErr(({ part, why }) => `tls.${part} ${why}`);
    });
  }
}

const tlsNotRereadMessage = 'the certificate could not be reread; the previous one stays in use';

export type RenewalOptions = {
  readonly settings: Pick<Settings, 'tokensFile' | 'tokens' | 'tlsCert' | 'tlsKey'>;
  /** Replaces the accepted tokens, from the next request on. */
  readonly accept: (tokens: TokenSet) => void;
  readonly server: Promise<RunningServer>;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Time between two looks for changed files, in milliseconds. Default: 2000 (2 seconds). */
  readonly intervalMs?: number;
};

/**
 * Renews what is read from files whenever one of them changes, until the signal aborts. If that
 * fails, it is repeated after each interval: a limit of open files, for example, changes without
 * them. A fault is logged once, until it is another one.
 *
 * @returns a function that renews it now, and logs a fault in any case
 */
function watchFiles(
  named: readonly (string | undefined)[],
  renew: () => Promise<Result<void, string>>,
  faultMessage: string,
  { server, log, signal, intervalMs = 2_000 }: RenewalOptions,
): () => void {
  const paths = named.filter((path) => path !== undefined);
  let last = Promise.resolve();
  let isQueued = false;
  let fault: string | undefined;
  let repetition: NodeJS.Timeout | undefined;
  try {
    for (const path of paths)
      watchFile(path, { interval: intervalMs, persistent: false }, renewInTurn);
  } catch {
    // Node runs with --permission: reading the file says so.
  }
  signal.addEventListener('abort', () => {
    clearTimeout(repetition);
    for (const path of paths) unwatchFile(path, renewInTurn);
  });
  return () => {
    fault = undefined;
    if (paths.length > 0) renewInTurn();
  };

  function renewInTurn(): void {
    // What waits for its turn reads what has changed since, too.
    if (!isQueued) last = last.then(renewNow);
    isQueued = true;
  }

  async function renewNow(): Promise<void> {
    // Nothing is renewed before the server accepts requests.
    await server;
    isQueued = false;
    clearTimeout(repetition);
    const renewed = await renew();
    const before = fault;
    fault = renewed.isErr() ? renewed.error : undefined;
    if (fault === undefined || signal.aborted) return;
    if (fault !== before) log.error({ reason: fault }, faultMessage);
    repetition = setTimeout(renewInTurn, intervalMs).unref();
  }
}
