import type { Result } from 'neverthrow';
import { bearerToken } from './bearer-token.ts';
import { callerSignal } from './caller-signal.ts';
import type { Settings } from './client-options.ts';
import type { RequestInvalid, TokenFailed } from './create-plant-error.ts';
import { type PlantAsGiven, plantBody } from './plant-body.ts';
import { plantsUrl } from './plants-url.ts';

/** A request in which everything that can be checked beforehand is right. */
export type PreparedRequest = {
  readonly url: string;
  readonly token: string;
  readonly body: string;
  readonly signal: AbortSignal | undefined;
};

export const prepareRequest = (
  settings: Settings,
  newPlant: PlantAsGiven,
  options: unknown,
): Result<PreparedRequest, RequestInvalid | TokenFailed> =>
  plantsUrl(settings.baseUrl).andThen((url) =>
    plantBody(newPlant).andThen((body) =>
      callerSignal(options).andThen((signal) =>
        bearerToken(settings.token).map((token) => ({ url, token, body, signal })),
      ),
    ),
  );
