import { err, type Result } from 'neverthrow';
import type { FetchResponse } from './client-options.ts';
import type { CreatePlantError } from './create-plant-error.ts';
import { describeCause } from './describe-cause.ts';
import { ignoreErrors, undefinedOnThrow } from './untrusted.ts';
import type { Plant } from './plant.ts';
import { redact } from './redactor.ts';

export type Outcome = Result<Plant, CreatePlantError>;

/** The report of a call in its error and to `onSettled`. */
export type Report = {
  /** Number of requests started. */
  readonly attempts: number;
  /** The HTTP status of the last attempt's response, if one started. */
  readonly status?: number;
  /** The `X-Request-Id` of that response, if it has one. */
  readonly requestId?: string;
};

/** The mutable state of a call in flight. */
export type Call = {
  attempts: number;
  /** The response of the last attempt, once it has started. */
  response?: { readonly status: number; readonly source: FetchResponse } | undefined;
  /** The tokens to redact in errors. */
  readonly tokens: string[];
};

/** Returns a header field of the response, or `undefined` if it cannot be read. */
export const readField = ({ response }: Call, name: string): string | undefined => {
  const value: unknown = undefinedOnThrow(() => response?.source.headers.get(name));
  if (typeof value === 'string') return value;
  // The value of an injected fetch may be a promise that rejects.
  void ignoreErrors(() => value);
  return undefined;
};

export const reportOf = (call: Call): Report => {
  const { attempts, response } = call;
  const requestId = readField(call, 'x-request-id');
  return {
    attempts,
    ...(response && { status: response.status }),
    ...(requestId !== undefined && { requestId: redact(call.tokens, requestId) }),
  };
};

type WithoutReport<E> = E extends unknown ? Omit<E, keyof Report> : never;

/** Returns an error of a call, with its report. */
export const fail = (call: Call, error: WithoutReport<CreatePlantError>): Outcome =>
  err({ ...error, ...reportOf(call) } as CreatePlantError);

/** Returns the error for a thrown value, or for the reason of an abort. */
export const failWithCause = (
  call: Call,
  kind: 'network' | 'aborted',
  thrown: unknown,
): Outcome => {
  const { cause, innermost } = describeCause(thrown, call.tokens);
  const message =
    kind === 'aborted'
      ? 'the call was aborted'
      : `${call.response ? 'incomplete' : 'no'} response: ${innermost ?? cause.message}`;
  return fail(call, { kind, message, cause });
};
