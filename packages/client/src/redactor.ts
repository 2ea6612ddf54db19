export type Redact = (text: string) => string;

/** A character as JSON, a URL or HTML may escape it, or the backslashes that JSON may put before one. */
const escaped = /(?:\\+u00|%|&#x0*)([\da-f]{2});?|&#(\d+);?|\\+/gi;

/** A text with its escapes undone. */
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

// A text that has a token in an escaped form is told without any escapes: to keep track of where each
// character was would cost more than it tells. An asterisk is in no b64token, so what is left around it
// never forms a token anew. The longest goes first: a shorter one may be a part of it.
export const redactorOf =
  (tokens: readonly string[]): Redact =>
  (text) =>
    tokens
      .toSorted((one, other) => other.length - one.length)
      .reduce((left, token) => {
        const pattern = patternOf(token);
        const struck = left.replace(pattern, '***');
        const plain = unescaped(struck);
        const strictly = plain.replace(pattern, '***');
        return strictly === plain ? struck : strictly;
      }, text);
