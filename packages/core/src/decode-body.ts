import { err, Result } from 'neverthrow';
import { exactInteger } from './exact-integer.ts';
import { scanJson } from './scan-json.ts';

/**
 * Reads the bytes of a request body as a JSON value (RFC 8259, UTF-8; a leading BOM is removed). A
 * number under the object's `id` is exact: a `bigint` if a double could have rounded it, `NaN` if
 * such a number is not an integer, and some `bigint` beyond int64 for an integer beyond int64. Of
 * repeated members, the last one counts.
 *
 * @returns the value, or `body-missing` for an empty body, `encoding-invalid` for bytes that are
 * not UTF-8, `json-malformed` for text that is not JSON or is nested more than 500 levels deep
 * @example
 * ```ts
 * import { decodeBody } from '@plantstore/core/wire';
 *
 * const bytes = new Uint8Array([123, 34, 105, 100, 34, 58, 55, 125]); // {"id":7}
 * decodeBody(bytes); // ok({ id: 7 })
 * ```
 */
export function decodeBody(bytes: Uint8Array): Result<unknown, BodyUndecodable> {
  if (bytes.length === 0) return err({ kind: 'body-missing' });
  strictUtf8 ??= new TextDecoder('utf-8', { fatal: true });
  return decodeUtf8(bytes, strictUtf8).andThen(parseJson);
}

/** The reason why a body is not a JSON value, as a name of the error table. */
export type BodyUndecodable = {
  readonly kind: 'body-missing' | 'encoding-invalid' | 'json-malformed';
};

/** Maximum nesting depth of arrays and objects (RFC 8259 §9 allows a limit). */
const maxNesting = 500;

// Marked pure, so that a bundler can remove it from the client, which only encodes.
const parseJson = /* @__PURE__ */ Result.fromThrowable(
  (text: string): unknown => {
    // Each level of nesting has two characters.
    const scanned = text.length > 2 * maxNesting ? scanJson(text) : undefined;
    if (scanned && scanned.depth > maxNesting) throw new SyntaxError('nested too deeply');
    const value: unknown = JSON.parse(text);
    const { id } = (value ?? {}) as { readonly id?: unknown };
    // Digits alone are exact if they are a safe integer: no integer from 2^53 on is rounded to one
    // below 2^53.
    if (typeof id !== 'number' || (Number.isSafeInteger(id) && !/\d[.eE]/.test(text))) return value;
    // Not by a reviver, which takes up to 24 times as long for a body with many members.
    const { idSource } = scanned ?? scanJson(text);
    // Fifteen digits without an exponent are exact in a double; a longer number may not be.
    return idSource !== undefined && /\d[\d.]{15}|\d[eE]/.test(idSource)
      ? Object.assign(value as object, { id: exactInteger(idSource) ?? Number.NaN })
      : value;
  },
  (): BodyUndecodable => ({ kind: 'json-malformed' }),
);

// One for all bodies, because creating it takes longer than decoding a plant. Without `stream` it
// has no state. Created by the first body, because a runtime may lack it, such as Jest with jsdom.
let strictUtf8: Utf8Decoder | undefined;

const decodeUtf8 = /* @__PURE__ */ Result.fromThrowable(
  (bytes: Uint8Array, decoder: Utf8Decoder) => decoder.decode(bytes),
  (): BodyUndecodable => ({ kind: 'encoding-invalid' }),
);

// Core is compiled without the types of any runtime; every runtime has it (WHATWG Encoding).
type Utf8Decoder = { decode(bytes: Uint8Array): string };
declare const TextDecoder: new (label: 'utf-8', options: { fatal: boolean }) => Utf8Decoder;
