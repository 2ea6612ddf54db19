import { isBearerToken } from '@plantstore/core/wire';
import { err, type Result } from 'neverthrow';
import type { CreatePlantError } from './create-plant-error.ts';
import { describeCause, innermostMessage } from './describe-cause.ts';
import { ignoreErrors, orUndefined } from './lenient.ts';
import type { Plant } from './plant.ts';
import { type Redact, redactorOf } from './redactor.ts';

/** Whether a value can be sent as a token; only then can it come back. */
export const isToken = (value: unknown): value is string =>
  typeof value === 'string' && isBearerToken(value);

export type Outcome = Result<Plant, CreatePlantError>;

/** What errors and `onSettled` report of a call. */
export type Report = {
  /** The requests that were started. */
  readonly attempts: number;
  /** The HTTP status of the last response, where one had begun. */
  readonly status?: number;
  /** The last response's `X-Request-Id`, where it has one. */
  readonly requestId?: string;
};

/** A call under way: its only mutable record. */
export type Call = {
  attempts: number;
  /** The response of the last attempt, once it has begun. */
  response: { readonly status: number; readonly headers: unknown } | undefined;
  /** The tokens that are known; no error shows them. */
  readonly tokens: string[];
  readonly redact: Redact;
};

/** Creates a call with the token that is known before it, if there is one. */
export const createCall = (token: unknown): Call => {
  const tokens = isToken(token) ? [token] : [];
  return { attempts: 0, response: undefined, tokens, redact: redactorOf(tokens) };
};

/** Returns a header field of the response, where it can be read. */
export const readField = ({ response }: Call, name: string): string | undefined => {
  const value: unknown = orUndefined(() => (response?.headers as Headers | undefined)?.get(name));
  if (typeof value === 'string') return value;
  // A hostile one may be a promise that rejects.
  void ignoreErrors(() => value);
  return undefined;
};

export const reportOf = (call: Call): Report => {
  const { attempts, response } = call;
  const requestId = readField(call, 'x-request-id');
  return {
    attempts,
    ...(response && { status: response.status }),
    ...(requestId !== undefined && { requestId: call.redact(requestId) }),
  };
};

type WithoutReport<E> = E extends unknown ? Omit<E, keyof Report> : never;

/** Makes every error of a call. */
export const fail = (call: Call, error: WithoutReport<CreatePlantError>): Outcome =>
  err({ ...error, ...reportOf(call) } as CreatePlantError);

/** Makes the error of what was thrown, or was the reason of an abort. */
export const failBy = (call: Call, kind: 'network' | 'aborted', thrown: unknown): Outcome => {
  const cause = describeCause(thrown, call.redact);
  const message =
    kind === 'aborted'
      ? 'the call was aborted'
      : `${call.response ? 'incomplete' : 'no'} response: ${innermostMessage(cause)}`;
  return fail(call, { kind, message, cause });
};
