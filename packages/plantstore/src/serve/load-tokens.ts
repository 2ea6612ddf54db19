import { err, ok, type Result } from 'neverthrow';
import type { AcceptedToken } from '../settings/accepted-token.ts';
import { parseTokens } from './parse-tokens.ts';
import { readSettingFile } from './read-setting-file.ts';
import type { Settings } from '../settings/settings.ts';

/** Returns the tokens that the settings name; none if one is to be generated. */
export const loadTokens = async ({
  tokensFile,
  tokens = [],
}: Pick<Settings, 'tokensFile' | 'tokens'>): Promise<Result<readonly AcceptedToken[], string>> => {
  if (tokensFile === undefined) return ok(tokens);
  const cannotUse = (reason: string): string =>
    `cannot use the tokens file (--tokens-file, PLANTSTORE_TOKENS_FILE): ${tokensFile} ${reason}`;
  const read = await readSettingFile(tokensFile);
  if (read.isErr()) return err(cannotUse(`${read.error}; name a file with one token per line`));
  return parseTokens(read.value.toString('utf8')).mapErr(cannotUse);
};
