/** b64token (RFC 6750 §2.1). */
const b64token = '[A-Za-z0-9\\-._~+/]+=*';

const credentials = new RegExp(`^Bearer +(${b64token})$`, 'i');
const tokenOnly = new RegExp(`^${b64token}$`);

/** The token of an Authorization field (RFC 6750 §2.1), or `undefined` where it has none to read. */
export const bearerTokenOf = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : credentials.exec(authorization)?.[1];

/** Whether a text can be sent as a bearer token at all. */
export const isBearerToken = (text: string): boolean => tokenOnly.test(text);
