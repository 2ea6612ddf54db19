import { isBearerToken } from '@plantstore/core/wire';
import { digestOf } from '../accept-tokens.ts';
import { readSettingFile } from './read-setting-file.ts';
import type { Settings } from './settings.ts';

/** What is kept of the tokens to accept, or why there are none. */
export type LoadedTokens =
  | { readonly kind: 'loaded'; readonly digests: readonly Buffer[] }
  | { readonly kind: 'cannot-load'; readonly message: string };

const cannotLoad = (path: string, why: string): LoadedTokens => ({
  kind: 'cannot-load',
  message: `cannot use the tokens file (--tokens-file, PLANTSTORE_TOKENS_FILE): ${path} ${why}`,
});

const parseTokensFile = (path: string, text: string): LoadedTokens => {
  const lines = text.split('\n').map((line, index) => ({ text: line.trim(), number: index + 1 }));
  const entries = lines.filter((line) => line.text !== '' && !line.text.startsWith('#'));
  const wrong = entries.filter((line) => !isBearerToken(line.text)).map((line) => line.number);
  if (wrong.length > 0) {
    return cannotLoad(
      path,
      `has no bearer token in line ${wrong.join(', ')}: a token is letters, digits and -._~+/, with = at its end only`,
    );
  }
  if (entries.length === 0) return cannotLoad(path, 'has no token: put in one a line');
  return { kind: 'loaded', digests: entries.map((line) => digestOf(line.text)) };
};

const readTokensFile = async (path: string): Promise<LoadedTokens> => {
  const read = await readSettingFile(path);
  if (read.kind === 'cannot-read') {
    return cannotLoad(path, `${read.why}; name a file with one token a line`);
  }
  const loaded = parseTokensFile(path, read.bytes.toString('utf8'));
  // A crash dump has what was freed, too.
  read.bytes.fill(0);
  return loaded;
};

/** Returns the tokens that the settings name; none where one is to be generated. */
export const loadTokens = async ({
  tokensFile,
  tokens = [],
}: Pick<Settings, 'tokensFile' | 'tokens'>): Promise<LoadedTokens> =>
  tokensFile === undefined ? { kind: 'loaded', digests: tokens } : readTokensFile(tokensFile);
