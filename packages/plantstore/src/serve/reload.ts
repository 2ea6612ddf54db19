import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger, RunningServer } from '@plantstore/server';
import type { StartInputs } from './load-start-inputs.ts';
import { loadTls } from './load-tls.ts';
import { loadTokens } from './load-tokens.ts';
import type { Settings } from '../settings/settings.ts';
import { type TokenSet, warnOfExpiredTokens } from '../settings/token-set.ts';
import { notRereadMessage, rereadMessage } from '../log/log-messages.ts';

type ReloadOptions = Pick<StartInputs, 'watchedTokens' | 'watchedTls'> & {
  readonly settings: Pick<Settings, 'tokensFile' | 'tokens' | 'tlsCert' | 'tlsKey'>;
  /** Replaces the accepted tokens, from the next request on. */
  readonly accept: (tokens: TokenSet) => void;
  readonly server: RunningServer;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Time between two looks for changed files, in milliseconds. Default: 2000 (2 seconds). */
  readonly intervalMs?: number;
};

/**
 * Watches the files that the settings name until the signal aborts, and returns a function that rereads all of them. Calls run
 * one after another; the system may have merged several SIGHUPs into one call. A file that cannot be used changes nothing.
 */
export function createReload(options: ReloadOptions): () => void {
  const { watchedTokens, watchedTls, signal, intervalMs = 2_000 } = options;
  let last = Promise.resolve();
  const reload = async (onSignal: boolean) => {
    last = last.then(async () => {
      if (onSignal || (await watchedTokens.areRenewed())) await reloadTokens(options, onSignal);
      if (onSignal || (await watchedTls.areRenewed())) await reloadTls(options, onSignal);
    });
    return last;
  };
  // An abort ends the wait.
  const wait = async () => sleep(intervalMs, undefined, { ref: false, signal }).catch(() => {});
  const watch = async () => {
    for (await wait(); !signal.aborted; await wait()) await reload(false);
  };
  void watch();
  return () => void reload(true);
}

async function reloadTokens(
  { settings, watchedTokens, accept, log }: ReloadOptions,
  onSignal: boolean,
): Promise<void> {
  if (settings.tokensFile === undefined) {
    const from = settings.tokens === undefined ? 'were generated' : 'are from PLANTSTORE_TOKENS';
    log.info({}, `the tokens ${from} and stay in use: only a --tokens-file can be reread`);
    return;
  }
  await watchedTokens.markRead();
  const loaded = await loadTokens(settings);
  if (loaded.isErr()) {
    const reason = loaded.error;
    if ((await watchedTokens.markFailed(reason)) || onSignal)
      log.error({ reason }, notRereadMessage);
    return;
  }
  accept(loaded.value);
  log.info({ tokens: loaded.value.entries.length }, rereadMessage);
  warnOfExpiredTokens(loaded.value, log);
}

async function reloadTls(
  { settings, watchedTls, server, log }: ReloadOptions,
  onSignal: boolean,
): Promise<void> {
  await watchedTls.markRead();
  const renewed = (await loadTls(settings)).match(
    (tls) => tls && server.renewTls(tls),
    (message) => ({ kind: 'not-renewed', message }) as const,
  );
  if (renewed === undefined) return;
  if (renewed.kind === 'renewed') {
    log.info({}, 'the certificate was reread');
    return;
  }
  const reason = renewed.message;
  if ((await watchedTls.markFailed(reason)) || onSignal)
    log.error({ reason }, 'the certificate could not be reread; the previous one stays in use');
}
