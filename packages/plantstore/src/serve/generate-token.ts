import { randomBytes } from 'node:crypto';
import type { Writable } from 'node:stream';
import { acceptedToken } from '../settings/accepted-token.ts';
import type { TokenSet } from './token-set.ts';

const tokenBytes = 24;

const curlLine = (url: string, token: string): string =>
  [
    // curl rejects a self-signed certificate without -k.
    `curl ${url.startsWith('https:') ? '-ik' : '-i'} '${url.replaceAll("'", '%27')}'`,
    `-H 'Authorization: Bearer ${token}'`,
    `-H 'Content-Type: application/json'`,
    `-d '{"id":1,"name":"Monstera","tag":"climber"}'`,
  ].join(' ');

/** Generates the token of this run and prints it once, in a curl command. Keeps only its digest. */
export const generateToken = (tokens: TokenSet, url: string, stderr: Writable): void => {
  const token = randomBytes(tokenBytes).toString('base64url');
  tokens.replace([acceptedToken(token)]);
  stderr.write(
    `No tokens are set, so one was generated for this run. To use the same one in each run, set PLANTSTORE_TOKENS. Create a plant:\n\n${curlLine(url, token)}\n\n`,
  );
};
