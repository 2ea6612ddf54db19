import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isBearerToken } from '@plantstore/core/wire';
import type { Authenticate } from '../http/admit.ts';
import type { TokenSetting } from './settings.ts';

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/**
 * Accepts exactly these tokens. Their digests are kept, not they; each is compared in constant
 * time, and always all of them, so that the time tells nothing.
 *
 * @throws TypeError for a token that no request could bring (RFC 6750 §2.1)
 * @example
 * ```ts
 * import { acceptTokens } from '@plantstore/server';
 *
 * const authenticate = acceptTokens(['s3cret']);
 * await authenticate('s3cret'); // true
 * ```
 */
export const acceptTokens = (tokens: readonly string[]): Authenticate => {
  if (!tokens.every(isBearerToken)) throw new TypeError('a token cannot be sent as a bearer token');
  const digests = tokens.map(digestOf);
  return (token) => {
    const digest = digestOf(token);
    let accepted = 0;
    for (const one of digests) accepted |= Number(timingSafeEqual(one, digest));
    return accepted === 1;
  };
};

/** The tokens to accept, or why there are none. */
export type LoadedTokens =
  | {
      readonly kind: 'loaded';
      readonly tokens: readonly string[];
      /** The one token that was made for this run, to be shown once. */
      readonly madeUp?: string;
    }
  | { readonly kind: 'cannot-load'; readonly message: string };

const madeUpTokenBytes = 24;

const parseTokensFile = (path: string, text: string): LoadedTokens => {
  const lines = text.split('\n').map((line, index) => ({ text: line.trim(), number: index + 1 }));
  const entries = lines.filter((line) => line.text !== '' && !line.text.startsWith('#'));
  const wrong = entries.filter((line) => !isBearerToken(line.text)).map((line) => line.number);
  if (wrong.length > 0) {
    const message = `the tokens file ${path} has no bearer token in line ${wrong.join(', ')}: a token is letters, digits and -._~+/, with = at its end only`;
    return { kind: 'cannot-load', message };
  }
  if (entries.length === 0) {
    return { kind: 'cannot-load', message: `the tokens file ${path} has no token: one a line` };
  }
  return { kind: 'loaded', tokens: entries.map((line) => line.text) };
};

const readFaults = new Map([
  ['ENOENT', 'does not exist'],
  ['EACCES', 'may not be read by this user'],
  ['EISDIR', 'is a folder'],
]);

const readTokensFile = async (path: string): Promise<LoadedTokens> => {
  try {
    return parseTokensFile(path, await readFile(path, 'utf8'));
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
    const why = readFaults.get(code) ?? `cannot be read (${code})`;
    return { kind: 'cannot-load', message: `the tokens file ${path} ${why}` };
  }
};

/** Gets the tokens that the settings name; makes one up where they name none. */
export const loadTokens = async (setting: TokenSetting): Promise<LoadedTokens> => {
  switch (setting.kind) {
    case 'given':
      return { kind: 'loaded', tokens: setting.tokens };
    case 'file':
      return readTokensFile(setting.path);
    case 'none': {
      const madeUp = randomBytes(madeUpTokenBytes).toString('base64url');
      return { kind: 'loaded', tokens: [madeUp], madeUp };
    }
  }
};
