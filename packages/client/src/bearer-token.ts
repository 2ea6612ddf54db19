import { isBearerToken } from '@plantstore/core/wire';
import { err, ok, type Result } from 'neverthrow';
import type { TokenFailed } from './create-plant-error.ts';

/** A token that may stand in a header; any other never gets near one, nor into its error. */
export const bearerToken = (token: unknown): Result<string, TokenFailed> =>
  typeof token === 'string' && isBearerToken(token)
    ? ok(token)
    : err({
        kind: 'token-failed',
        message: 'token must be an RFC 6750 b64token',
        attempts: 0,
      });
