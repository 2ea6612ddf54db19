/**
 * Decides whether a bearer token may create plants. Only `true` lets a request in; throwing or
 * rejecting answers 500.
 */
export type Authenticate = (token: string) => boolean | Promise<boolean>;
