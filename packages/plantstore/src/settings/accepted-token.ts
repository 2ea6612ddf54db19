import { digestOf } from '../../../server/src/http/token-digest.ts';

/** What is kept of a token. */
export type AcceptedToken = {
  readonly digest: Buffer;
  readonly name?: string;
  /** Time from which it is refused, in milliseconds since 1970. Default: never. */
  readonly endsAt?: number;
};

/** A token without a name and an end. */
export const acceptedToken = (token: string): AcceptedToken => ({ digest: digestOf(token) });
