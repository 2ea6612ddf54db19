export type Redact = (text: string) => string;

/** A character as JSON, a URL or HTML may escape it, or the backslashes that JSON may put before one. */
const escaped = /(?:\\+u00|%|&#x0*)([\da-f]{2});?|&#(\d+);?|\\+/gi;

/** A text with its outermost escapes undone. */
const unescaped = (text: string): string =>
  text.replace(escaped, (_, hex?: string, code = hex && `0x${hex}`) =>
    code ? String.fromCharCode(Number(code)) : '',
  );

// Of a long token its beginning is looked for, and goes with whatever follows that could be a token's,
// escaped or not: so the time grows with the text alone, whatever token and text have in common.
const longest = 200;
const patternOf = (token: string): RegExp =>
  new RegExp(
    token.slice(0, longest).replace(/\W/g, '\\$&') + (token[longest] ? '[\\w.~+/=%&#;\\\\-]*' : ''),
    'g',
  );

// A text that has a token in an escaped form is told without those escapes: to keep track of where each
// character was would cost more than it tells. An asterisk is in no b64token, so what is left around it
// never forms a token anew. A text may have been escaped again and again, as JSON in a URL in HTML is.
const strike = (text: string, pattern: RegExp, layers = 4): string => {
  const struck = text.replace(pattern, '***');
  const plain = unescaped(struck);
  const strictly = layers && plain !== struck ? strike(plain, pattern, layers - 1) : plain;
  return strictly === plain ? struck : strictly;
};

// The longest goes first: a shorter one may be a part of it.
export const redactorOf =
  (tokens: readonly string[]): Redact =>
  (text) =>
    tokens
      .toSorted((one, other) => other.length - one.length)
      .reduce((left, token) => strike(left, patternOf(token)), text);
