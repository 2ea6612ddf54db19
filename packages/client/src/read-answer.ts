import type { Plant } from '@plantstore/core';
import { err, ok, type Result } from 'neverthrow';
import type { CreatePlantError } from './create-plant-error.ts';
import { errorNames } from './error-names.ts';
import type { Redact } from './redactor.ts';
import { safely } from './safely.ts';

/** A response, whose body is cut off after the first `longest` bytes. */
export type Answer = {
  readonly status: number;
  readonly body: Uint8Array;
  readonly longest: number;
};

const isInt32 = (value: unknown): value is number => typeof value === 'number' && value === ~~value;

/** What an answer means by the contract. A plant may contain the token's text, an error may not. */
export const readAnswer = (
  { status, body, longest }: Answer,
  attempts: number,
  redact: Redact,
): Result<Plant, CreatePlantError> => {
  const bytes = body.subarray(0, longest);
  const content = safely((): unknown =>
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)),
  );
  // What a prototype may have is no member of JSON.
  const { name, tag, error, message } = Object.setPrototypeOf(Object(content), null) as {
    readonly [key: string]: unknown;
  };
  if (status === 200 && typeof name === 'string') {
    if (tag === undefined) return ok({ name });
    if (typeof tag === 'string') return ok({ name, tag });
  }
  const common = { status, attempts };
  if (status >= 400 && isInt32(error) && typeof message === 'string') {
    const known = errorNames[error] ?? 'unknown';
    return err({ kind: 'refused', name: known, error, message: redact(message), ...common });
  }
  const raw = { body: redact(new TextDecoder().decode(bytes), body.length > longest), ...common };
  return status === 200 || status === 400
    ? err({ kind: 'response-invalid', message: `the ${status} answer breaks the contract`, ...raw })
    : err({ kind: 'unexpected-status', message: `unexpected status ${status}`, ...raw });
};
