/**
 * Returns the exact integer of a JSON number's source text, or `undefined` if the number is not an
 * integer: `7.0` and `7e3` are integers, `1.0000000000000000001` is not. For an integer beyond
 * int64, returns some integer beyond int64, in constant time.
 */
export function exactInteger(source: string): bigint | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = jsonNumber.exec(source) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return 0n;
  const significant = withoutTrailingZeros(digits);
  const zeros = Number(exponent) - fraction.length + (digits.length - significant.length);
  if (zeros < 0) return undefined;
  if (significant.length + zeros > int64Digits) return sign === '-' ? -beyondInt64 : beyondInt64;
  return BigInt(sign + significant + '0'.repeat(zeros));
}

/** Represents every integer beyond int64, so that no exponent is expanded. */
const beyondInt64 = 1n << 64n;
const int64Digits = 19;

/** RFC 8259 §6: minus? int frac? exp? */
const jsonNumber = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

function withoutTrailingZeros(digits: string): string {
  // A loop, because /0+$/ takes quadratic time for a long run of zeros that is not at the end.
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}
