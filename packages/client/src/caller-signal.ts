import { ok, type Result } from 'neverthrow';
import type { RequestInvalid } from './create-plant-error.ts';
import { readMember } from './read-member.ts';
import { requestInvalid } from './request-invalid.ts';

// By its members, as a polyfill's signal or another realm's is as good.
const isSignal = (value: unknown): value is AbortSignal =>
  typeof readMember(value, 'aborted') === 'boolean' &&
  typeof readMember(value, 'addEventListener') === 'function';

/** The signal among a call's options; one that could not abort the call is refused. */
export const callerSignal = (options: unknown): Result<AbortSignal | undefined, RequestInvalid> => {
  const signal = readMember(options, 'signal') ?? undefined;
  return signal === undefined || isSignal(signal) ? ok(signal) : requestInvalid('signal-invalid');
};
