import { err } from 'neverthrow';
import type {
  CauseDescription,
  Failure,
  Report,
  RequestInvalid,
  TimedOut,
  TokenFailed,
} from './errors.ts';
import { redact } from './redact.ts';
import { ignoreErrors, isText, memberOf, undefinedOnThrow } from './untrusted.ts';

/** What each error of a call is made from. */
export type CallState = {
  /** The report of the last attempt. */
  readonly report: Report;
  /** All tokens of the call, to redact in its errors. */
  readonly tokens: readonly string[];
};

/** Returns the error for an invalid argument or option. Nothing was sent. */
export function invalid(reason: RequestInvalid['reason'], message: string): Failure {
  return err({ kind: 'request-invalid', message, reason, attempts: 0 });
}

/** Returns the error for `headers`: the name of a field that is wrong, or what was thrown. */
export function headersInvalid({ tokens }: CallState, fieldOrThrown: unknown): Failure {
  const because = explain('headers must be valid fields', fieldOrThrown, tokens);
  return err({ kind: 'request-invalid', reason: 'headers-invalid', ...because, attempts: 0 });
}

export function tokenFailed({ report }: CallState, message: string): TokenFailed {
  return { kind: 'token-failed', message, ...report };
}

/** Returns the error for an incomplete response. `missing` is what did not arrive. */
export function networkFailed(call: CallState, missing: string, thrown: unknown): Failure {
  return err({ kind: 'network', ...explain(missing, thrown, call.tokens), ...call.report });
}

/** Returns the error for a phase that did not end in time. */
export function timedOut(
  { report }: CallState,
  phase: TimedOut['phase'],
  message: string,
): Failure {
  return err({ kind: 'timeout', message, phase, ...report });
}

/** Returns the error for a call that the signal of its caller aborted. */
export function aborted({ report, tokens }: CallState, reason: unknown): Failure {
  const cause = describeCause(reason, tokens);
  return err({ kind: 'aborted', message: 'the call was aborted', cause, ...report });
}

/**
 * Returns the message and the cause of an error: the message ends with that of the innermost cause.
 */
function explain(
  what: string,
  thrown: unknown,
  tokens: readonly string[],
): { message: string; cause: CauseDescription } {
  let reason = valueOf(thrown, tokens);
  let current = thrown;
  for (let depth = 1; current !== undefined; depth += 1) {
    // A cause may have no message, or be no error.
    const message = messageOf(current, tokens);
    if (message) reason = message;
    current = nextCause(current, depth);
  }
  return { message: `${what}: ${reason}`, cause: describeCause(thrown, tokens) };
}

/** Describes any thrown value, also a proxy or getter that throws. */
export function describeCause(
  thrown: unknown,
  tokens: readonly string[],
  depth = 1,
): CauseDescription {
  const description: { -readonly [Name in keyof CauseDescription]: CauseDescription[Name] } = {
    name: textOf(tokens, memberOf(thrown, 'name')) ?? typeof thrown,
    message: messageOf(thrown, tokens) ?? valueOf(thrown, tokens),
  };
  const code = textOf(tokens, memberOf(thrown, 'code'));
  if (code !== undefined) description.code = code;
  const next = nextCause(thrown, depth);
  if (next !== undefined) description.cause = describeCause(next, tokens, depth + 1);
  return description;
}

/** Returns the cause of an error, of an `AggregateError` the last one; none below the fourth. */
function nextCause(thrown: unknown, depth: number): unknown {
  if (depth === 4) return undefined;
  const cause = memberOf(thrown, 'cause');
  return cause ?? undefinedOnThrow((): unknown => (thrown as AggregateError).errors.at(-1));
}

/** Returns the message of an error, or a text that was thrown. */
function messageOf(thrown: unknown, tokens: readonly string[]): string | undefined {
  return textOf(tokens, isText(thrown) ? thrown : memberOf(thrown, 'message'));
}

/** Returns any value as a text. */
function valueOf(thrown: unknown, tokens: readonly string[]): string {
  const text = undefinedOnThrow(() => String(thrown));
  return textOf(tokens, text) ?? 'a value without text';
}

/** Returns a text, redacted, or `undefined` for another value. */
export function textOf(tokens: readonly string[], value: unknown): string | undefined {
  // A member of an injected response may return a promise that rejects.
  void ignoreErrors(() => value);
  return isText(value) ? redact(tokens, value) : undefined;
}
