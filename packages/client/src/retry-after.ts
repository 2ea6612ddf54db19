/** The longest timer, in milliseconds. */
export const longestMs = 2 ** 31 - 1;

/**
 * Returns the delay of a `Retry-After` (RFC 9110 §10.2.3) in milliseconds, or `undefined` if it is
 * invalid. A date is compared with the `Date` of the response, if it has a valid one, because the
 * clocks may differ.
 */
export function parseRetryAfter(retryAfter: string, date: string): number | undefined {
  if (/^\d+$/.test(retryAfter)) return Math.min(Number(retryAfter) * 1000, longestMs);
  const time = parseHttpDate(retryAfter);
  if (time === undefined) return undefined;
  return Math.max(0, time - (parseHttpDate(date) ?? Date.now()));
}

/** Returns the time of an HTTP date, or `undefined` if it is invalid. */
function parseHttpDate(text: string): number | undefined {
  const spaced = text.replaceAll('-', ' ');
  // Only asctime has no comma, and no time zone: Date.parse would read it as local time.
  const date = spaced.includes(',') ? spaced : `${spaced} GMT`;
  // Date.parse accepts more than HTTP dates: in some engines "-1" is a date in 2001.
  if (!httpDate.test(date)) return undefined;
  const time = Date.parse(date);
  return Number.isNaN(time) ? undefined : time;
}

/**
 * The three forms of an HTTP date (RFC 9110 §5.6.7), with spaces for the hyphens of RFC 850, and
 * with a time zone.
 */
const httpDate = /^\w+(, \d+ \w+ \d+ [\d:]+| \w+ +\d+ [\d:]+ \d+) GMT$/;
