import { err, Result } from 'neverthrow';
import { exactInteger } from './exact-integer.ts';
import { nestsDeeperThan } from './nesting.ts';

/** Why the bytes of a body are no JSON value, by its name in the error table. */
export type BodyUndecodable = {
  readonly kind: 'body-missing' | 'encoding-invalid' | 'json-malformed';
};

/** How many arrays and objects may lie inside one another (RFC 8259 §9 allows a limit). */
const maxNesting = 500;

/** Fifteen digits without an exponent always survive a double; anything longer may not. */
const mayLoseDigits = /\d[\d.]{15}|\d[eE]/;

/** A number that is written with more than digits. */
const hasFractionOrExponent = /\d[.eE]/;

/**
 * Whether a double may have rounded the number under `id`. Digits alone are exact where their double is
 * a safe integer: no integer from 2^53 on is rounded to one below it.
 */
const mayBeRounded = (value: unknown, text: string): boolean => {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'id')) return false;
  const { id } = value as { id: unknown };
  if (typeof id !== 'number' || !mayLoseDigits.test(text)) return false;
  return !Number.isSafeInteger(id) || hasFractionOrExponent.test(text);
};

/** Replaces each number under `id` by the exact integer that its source text writes. */
const withExactId = (key: string, value: unknown, context?: { readonly source?: string }) => {
  if (key !== 'id' || typeof value !== 'number' || context?.source === undefined) return value;
  return exactInteger(context.source) ?? Number.NaN;
};

// Marked pure, so that a bundle that only encodes (the client's) leaves it out.
const parseJson = /* @__PURE__ */ Result.fromThrowable(
  (text: string): unknown => {
    const value: unknown = JSON.parse(text);
    return mayBeRounded(value, text) ? JSON.parse(text, withExactId) : value;
  },
  (): BodyUndecodable => ({ kind: 'json-malformed' }),
);

/** The one thing that the wire needs beyond ECMAScript; every runtime has it (WHATWG Encoding). */
type WithTextDecoder = {
  readonly TextDecoder: new (
    label: 'utf-8',
    options: { readonly fatal: boolean },
  ) => { readonly decode: (bytes: Uint8Array) => string };
};

let decoder: InstanceType<WithTextDecoder['TextDecoder']> | undefined;

const decodeUtf8 = /* @__PURE__ */ Result.fromThrowable(
  (bytes: Uint8Array) => {
    const { TextDecoder } = globalThis as unknown as WithTextDecoder;
    // Made once: that takes longer than to decode a plant. Without `stream` it keeps no state.
    decoder ??= new TextDecoder('utf-8', { fatal: true });
    return decoder.decode(bytes);
  },
  (): BodyUndecodable => ({ kind: 'encoding-invalid' }),
);

/**
 * Reads the bytes of a request body as a JSON value (RFC 8259, UTF-8, a leading BOM is dropped).
 * A number under the object's `id` comes out exact: a `bigint` where a double could have rounded it,
 * never an integer where the written value is none, and some `bigint` beyond int64 where it is beyond.
 * A repeated member: the last one counts.
 *
 * @returns the value, or `body-missing` for no bytes at all, `encoding-invalid` for bytes that are
 * not UTF-8, `json-malformed` for text that is not JSON or nests deeper than 500 levels
 * @example
 * ```ts
 * import { decodeBody } from '@plantstore/core/wire';
 *
 * const bytes = new Uint8Array([123, 34, 105, 100, 34, 58, 55, 125]); // {"id":7}
 * decodeBody(bytes); // ok({ id: 7 })
 * ```
 */
export const decodeBody = (bytes: Uint8Array): Result<unknown, BodyUndecodable> => {
  if (bytes.length === 0) return err({ kind: 'body-missing' });
  return decodeUtf8(bytes).andThen((text) =>
    text.length > 2 * maxNesting && nestsDeeperThan(maxNesting, text)
      ? err({ kind: 'json-malformed' as const })
      : parseJson(text),
  );
};
