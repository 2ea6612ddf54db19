import { isBearerToken } from '@plantstore/core/wire';
import { digestOf } from '../accept-tokens.ts';
import { readSettingFile } from './read-setting-file.ts';
import { namesOf, settingTable } from './setting-table.ts';
import type { TokenSetting } from './settings.ts';

/** What is kept of the tokens to accept, or why there are none. */
export type LoadedTokens =
  | { readonly kind: 'loaded'; readonly digests: readonly Buffer[] }
  | { readonly kind: 'cannot-load'; readonly message: string };

const cannotLoad = (path: string, why: string): LoadedTokens => ({
  kind: 'cannot-load',
  message: `cannot use the tokens file (${namesOf(settingTable.tokensFile)}): ${path} ${why}`,
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

/** Gets what the settings name; nothing where they name none, and one is to be made up. */
export const loadTokens = async (setting: TokenSetting): Promise<LoadedTokens> => {
  switch (setting.kind) {
    case 'given':
      return { kind: 'loaded', digests: setting.digests };
    case 'file':
      return readTokensFile(setting.path);
    case 'none':
      return { kind: 'loaded', digests: [] };
  }
};
