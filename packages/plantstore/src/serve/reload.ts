import type { Logger, RunningServer } from '@plantstore/server';
import { loadTls } from './load-tls.ts';
import { loadTokens } from './load-tokens.ts';
import type { Settings } from '../settings/settings.ts';
import { type TokenSet, warnOfExpiredTokens } from '../settings/token-set.ts';
import { notRereadMessage, rereadMessage } from '../log/log-messages.ts';

type ReloadOptions = {
  readonly settings: Pick<Settings, 'tokensFile' | 'tokens' | 'tlsCert' | 'tlsKey'>;
  /** Replaces the accepted tokens, from the next request on. */
  readonly accept: (tokens: TokenSet) => void;
  readonly server: RunningServer;
  readonly log: Logger;
};

/**
 * Returns a function that rereads the files that the settings name. Calls run one after another; the
 * system may have merged several SIGHUPs into one call. A file that cannot be used changes nothing.
 */
export function createReload(options: ReloadOptions): () => void {
  let last = Promise.resolve();
  const reloadAll = async () => {
    await reloadTokens(options);
    await reloadTls(options);
  };
  return () => {
    last = last.then(reloadAll);
  };
}

async function reloadTokens({ settings, accept, log }: ReloadOptions): Promise<void> {
  if (settings.tokensFile === undefined) {
    const from = settings.tokens === undefined ? 'were generated' : 'are from PLANTSTORE_TOKENS';
    log.info({}, `the tokens ${from} and stay in use: only a --tokens-file can be reread`);
    return;
  }
  const loaded = await loadTokens(settings);
  if (loaded.isErr()) {
    const reason = loaded.error;
    log.error({ reason }, notRereadMessage);
    return;
  }
  accept(loaded.value);
  log.info({ tokens: loaded.value.entries.length }, rereadMessage);
  warnOfExpiredTokens(loaded.value, log);
}

async function reloadTls({ settings, server, log }: ReloadOptions): Promise<void> {
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
  log.error({ reason }, 'the certificate could not be reread; the previous one stays in use');
}
