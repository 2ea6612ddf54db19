/** The longest timer, in milliseconds. */
export const longestMs = 2 ** 31 - 1;

/**
 * Returns the delay of a `Retry-After` (RFC 9110 §10.2.3) in milliseconds, or 0 if it is invalid. A date is compared
 * with the `Date` of the response, if it has one, because the clocks may differ.
 */
export function parseRetryAfter(retryAfter: string, date?: string): number {
  return /^\d+$/.test(retryAfter)
    ? Math.min(+retryAfter * 1000, longestMs)
    : Math.max(0, parseHttpDate(retryAfter) - (parseHttpDate(date) || Date.now())) || 0;
}

/** The three forms of an HTTP date (RFC 9110 §5.6.7), with spaces for the hyphens of RFC 850, and with a time zone. */
const httpDate = /^\w+(, \d+ \w+ \d+ [\d:]+| \w+ +\d+ [\d:]+ \d+) GMT$/;

/** Returns the time of an HTTP date, or `NaN`. */
const parseHttpDate = (text = ''): number => {
  // Only asctime has no comma, and no time zone: Date.parse would read it as local time.
  const date = text.replace(/-/g, ' ') + (text.includes(',') ? '' : ' GMT');
  // Date.parse accepts more than HTTP dates: in some engines "-1" is a date in 2001.
  return httpDate.test(date) ? Date.parse(date) : NaN;
};
