import { isBearerToken } from '@plantstore/core/wire';

/** The scheme in any case, and one or more spaces (RFC 9110 §11.4). */
const credentials = /^Bearer +(\S+)$/i;
const usualScheme = 'Bearer ';

/** Returns the token of an Authorization field (RFC 6750 §2.1), or `undefined` if it has none. */
export const bearerTokenOf = (authorization = ''): string | undefined => {
  if (authorization.startsWith(usualScheme)) {
    const token = authorization.slice(usualScheme.length);
    if (isBearerToken(token)) return token;
  }
  const token = credentials.exec(authorization)?.[1];
  return token !== undefined && isBearerToken(token) ? token : undefined;
};
