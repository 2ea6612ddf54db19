import { randomBytes } from 'node:crypto';
import type { Writable } from 'node:stream';
import { createTokenSet, type TokenSet } from '../settings/token-set.ts';

/** Generates the token of this run and prints it once, in a curl command. */
export function generateToken(url: string, stderr: Writable): TokenSet {
  const token = randomBytes(24).toString('base64url');
  const advice = 'To use the same one in each run, set PLANTSTORE_TOKENS. Create a plant:';
  const curl = curlLine(url, token);
  stderr.write(`No tokens are set, so one was generated for this run. ${advice}\n\n${curl}\n\n`);
  return createTokenSet([{ token }]);
}

function curlLine(url: string, token: string): string {
  return [
    // -k accepts a self-signed certificate; without --noproxy, http_proxy gets the request.
    `curl ${url.startsWith('https:') ? '-ik' : '-i'} --noproxy '*' '${url.replaceAll("'", '%27')}'`,
    `-H 'Authorization: Bearer ${token}'`,
    `-H 'Content-Type: application/json'`,
    `-d '{"id":1,"name":"Monstera","tag":"climber"}'`,
  ].join(' ');
}
