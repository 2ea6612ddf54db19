import type { AcceptedToken } from '../accept-tokens.ts';
import { parseTokens } from './parse-tokens.ts';
import { readSettingFile } from './read-setting-file.ts';
import type { Settings } from './settings.ts';

/** The accepted tokens, or why they cannot be loaded. */
export type LoadedTokens =
  | { readonly kind: 'loaded'; readonly tokens: readonly AcceptedToken[] }
  | { readonly kind: 'cannot-load'; readonly message: string };

const cannotLoad = (path: string, reason: string): LoadedTokens => ({
  kind: 'cannot-load',
  message: `cannot use the tokens file (--tokens-file, PLANTSTORE_TOKENS_FILE): ${path} ${reason}`,
});

const readTokensFile = async (path: string): Promise<LoadedTokens> => {
  const read = await readSettingFile(path);
  if (read.kind === 'cannot-read') {
    return cannotLoad(path, `${read.reason}; name a file with one token per line`);
  }
  const parsed = parseTokens(read.bytes.toString('utf8'));
  // A crash dump contains freed memory, too.
  read.bytes.fill(0);
  return parsed.kind === 'invalid'
    ? cannotLoad(path, parsed.reason)
    : { kind: 'loaded', tokens: parsed.tokens };
};

/** Returns the tokens that the settings name; none if one is to be generated. */
export const loadTokens = async ({
  tokensFile,
  tokens = [],
}: Pick<Settings, 'tokensFile' | 'tokens'>): Promise<LoadedTokens> =>
  tokensFile === undefined ? { kind: 'loaded', tokens } : readTokensFile(tokensFile);
