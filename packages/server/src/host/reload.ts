import type { TokenSet } from '../accept-tokens.ts';
import type { Logger } from '../logger.ts';
import type { RunningServer } from '../start-server.ts';
import { warnOfExpiredTokens } from './expired-tokens.ts';
import { loadTls } from './load-tls.ts';
import { loadTokens } from './load-tokens.ts';
import type { Settings } from './settings.ts';

type ReloadOptions = {
  readonly settings: Pick<Settings, 'tokensFile' | 'tokens' | 'tlsCert' | 'tlsKey'>;
  readonly tokens: TokenSet;
  readonly server: RunningServer;
  readonly log: Logger;
};

const reloadTokens = async ({ settings, tokens, log }: ReloadOptions): Promise<void> => {
  if (settings.tokensFile === undefined) {
    const from = settings.tokens === undefined ? 'were generated' : 'are from PLANTSTORE_TOKENS';
    log.info({}, `the tokens ${from} and stay in use: only a --tokens-file can be reread`);
    return;
  }
  const loaded = await loadTokens(settings);
  if (loaded.kind === 'cannot-load') {
    log.error(
      { reason: loaded.message },
      'the tokens could not be reread; the previous ones stay in use',
    );
    return;
  }
  tokens.replace(loaded.tokens);
  log.info({ tokens: loaded.tokens.length }, 'the tokens were reread');
  warnOfExpiredTokens(loaded.tokens, log);
};

const reloadTls = async ({ settings, server, log }: ReloadOptions): Promise<void> => {
  const loaded = await loadTls(settings);
  if (loaded.kind === 'not-set') return;
  const renewed = loaded.kind === 'loaded' ? server.renewTls(loaded.tls) : loaded;
  if (renewed.kind === 'renewed') {
    log.info({}, 'the certificate was reread');
    return;
  }
  log.error(
    { reason: renewed.message },
    'the certificate could not be reread; the previous one stays in use',
  );
};

/**
 * Returns a function that rereads the files that the settings name. Calls run one after another. A file
 * that cannot be used changes nothing.
 */
export const createReload = (options: ReloadOptions): (() => void) => {
  let last = Promise.resolve();
  const reloadAll = async () => {
    await reloadTokens(options);
    await reloadTls(options);
  };
  return () => {
    last = last.then(reloadAll);
  };
};
