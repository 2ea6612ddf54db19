import { ok, type Result } from 'neverthrow';
import { bearerToken } from './bearer-token.ts';
import { callerSignal } from './caller-signal.ts';
import type { Settings } from './client-options.ts';
import type { RequestInvalid, TokenFailed } from './create-plant-error.ts';
import { type PlantAsGiven, plantBody } from './plant-body.ts';
import { plantsUrl } from './plants-url.ts';
import { requestInvalid } from './request-invalid.ts';

/** What sends a request. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A request in which everything that can be checked beforehand is right. */
export type PreparedRequest = {
  readonly url: string;
  readonly token: string;
  readonly body: string;
  readonly signal: AbortSignal | undefined;
  readonly fetch: Fetch;
};

const isFetch = (value: unknown): value is Fetch => typeof value === 'function';

// Looked up at each call, so that a fetch patched later is the one that is called.
const findFetch = (injected: unknown): Result<Fetch, RequestInvalid> => {
  const found = injected ?? globalThis.fetch;
  return isFetch(found) ? ok(found) : requestInvalid('fetch-invalid');
};

export const prepareRequest = (
  settings: Settings,
  newPlant: PlantAsGiven,
  options: unknown,
): Result<PreparedRequest, RequestInvalid | TokenFailed> =>
  plantsUrl(settings.baseUrl).andThen((url) =>
    plantBody(newPlant).andThen((body) =>
      callerSignal(options).andThen((signal) =>
        findFetch(settings.fetch).andThen((fetch) =>
          bearerToken(settings.token).map((token) => ({ url, token, body, signal, fetch })),
        ),
      ),
    ),
  );
