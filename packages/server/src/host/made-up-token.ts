import { randomBytes } from 'node:crypto';
import type { Writable } from 'node:stream';
import { digestOf, type TokenSet } from '../accept-tokens.ts';

const tokenBytes = 24;

const curlLine = (url: string, token: string): string =>
  [
    // Who tries out a certificate of their own need not make it known to curl.
    `curl ${url.startsWith('https:') ? '-ik' : '-i'} '${url.replaceAll("'", '%27')}'`,
    `-H 'Authorization: Bearer ${token}'`,
    `-H 'Content-Type: application/json'`,
    `-d '{"id":1,"name":"Monstera","tag":"climber"}'`,
  ].join(' ');

/** Makes up the token of this run and shows it once, in a line to paste; only its digest stays. */
export const makeUpToken = (tokens: TokenSet, url: string, stderr: Writable): void => {
  const token = randomBytes(tokenBytes).toString('base64url');
  tokens.replace([digestOf(token)]);
  stderr.write(
    `No tokens are set, so one was made up for this run. Create a plant:\n\n${curlLine(url, token)}\n\n`,
  );
};
