import { differingMember } from '@plantstore/core/wire';
import { err, ok } from 'neverthrow';
import { type ErrorName, errorNames, type Outcome, type Refused, type Report } from './errors.ts';
import { type CallState, textOf } from './failures.ts';
import type { FetchResponse } from './options.ts';
import type { NewPlant, Plant } from './plant.ts';
import { redact } from './redact.ts';
import { parseRetryAfter } from './retry-after.ts';
import { isText, undefinedOnThrow } from './untrusted.ts';

/** Returns the report of an attempt from the head of its response. */
export function reportOf(
  response: FetchResponse,
  { report: { attempts }, tokens }: CallState,
): Report {
  const report: { -readonly [Name in keyof Report]: Report[Name] } = {
    attempts,
    status: response.status,
  };
  const requestId = readField(response, 'x-request-id', tokens);
  if (requestId) report.requestId = requestId;
  const retryAfter = readField(response, 'retry-after', tokens);
  const retryAfterMs = parseRetryAfter(retryAfter, readField(response, 'date', tokens));
  if (retryAfterMs !== undefined) report.retryAfterMs = retryAfterMs;
  return report;
}

/**
 * Returns a header field, redacted; an empty text if the response does not have it, or if it cannot
 * be read, as in a `load` of SvelteKit.
 */
function readField(response: FetchResponse, name: string, tokens: readonly string[]): string {
  const value = undefinedOnThrow(() => response.headers.get(name));
  return textOf(tokens, value) ?? '';
}

/**
 * Returns the outcome for a response with a text; `undefined` if `fetch` has read it. A plant must
 * be the one of the request. In errors, the text is truncated, and the token is redacted.
 */
export function outcomeOf(
  call: CallState,
  response: FetchResponse,
  { url, body }: { readonly url: string; readonly body: string },
  text: string | undefined,
): Outcome {
  const { status } = response;
  const members = membersOf(text);
  if (status >= 400 && isServiceError(members)) {
    const { error } = members;
    const message = redact(call.tokens, members.message);
    return err({ kind: 'refused', message, name: nameOf(error), error, ...call.report, status });
  }
  const location = readField(response, 'location', call.tokens);
  let message = `unexpected response with status ${status}`;
  if (location) message += ` to ${location}`;
  let isInvalid = status === 200 || status === 400;
  if (text === undefined) {
    message += ': fetch has read its body';
    isInvalid = true;
  } else if (status === 200) {
    const { id: _, ...plant } = membersOf(body);
    // A cache or a proxy may return another plant, and an older server lacks a member.
    const difference = wasRedirected(response, url) ? 'URL' : differingMember(plant, members);
    if (difference === undefined) return ok(plant as Plant);
    message += `: its ${difference} is not what was sent`;
  }
  const kind = isInvalid ? 'response-invalid' : 'unexpected-status';
  return err({ kind, message, body: redact(call.tokens, text ?? ''), ...call.report, status });
}

type Members = { readonly [Name in keyof NewPlant | 'error' | 'message']?: unknown };

/** Returns the members of an object in JSON; none if the text is something else. */
function membersOf(text = ''): Members {
  const value = undefinedOnThrow((): unknown => JSON.parse(text));
  return typeof value === 'object' && value !== null ? value : {};
}

/** Returns whether the members are those of an error of the service; `error` is an int32. */
function isServiceError(members: Members): members is { error: number; message: string } {
  const { error, message } = members;
  if (!isText(message)) return false;
  if (typeof error !== 'number' || !Number.isInteger(error)) return false;
  return error >= -(2 ** 31) && error < 2 ** 31;
}

/** Returns the name of an error of the service. */
function nameOf(error: number): Refused['name'] {
  const names: Readonly<Record<number, ErrorName>> = errorNames;
  const known = names[error];
  if (known !== undefined) return known;
  // The numbers of rules that a service adds.
  if (error >= 4000 && error <= 4999) return 'plant-refused';
  return 'unknown';
}

/**
 * Returns whether `fetch` followed a redirect in spite of `redirect: 'manual'`, and so sent the
 * token and the plant to another URL.
 */
function wasRedirected({ redirected, url }: FetchResponse, requestUrl: string): boolean {
  // The fetch of React Native has no `redirected`. A response that a program made has no URL.
  return redirected ?? Boolean(url && url !== requestUrl);
}
