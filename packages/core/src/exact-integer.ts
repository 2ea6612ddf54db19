/** Stands for every integer beyond int64, so that no exponent is ever expanded. */
const beyondInt64 = 1n << 64n;
const int64Digits = 19;

/** RFC 8259 §6: minus? int frac? exp? */
const jsonNumber = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

const withoutTrailingZeros = (digits: string): string => {
  // A loop, because /0+$/ takes quadratic time on a long run of zeros inside.
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
};

/**
 * The exact integer that a JSON number's source text writes, or `undefined` where it writes none:
 * `7.0` and `7e3` are integers, `1.0000000000000000001` is not. An integer beyond int64 gives some
 * integer beyond int64, at no cost.
 */
export const exactInteger = (source: string): bigint | undefined => {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = jsonNumber.exec(source) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return 0n;
  const significant = withoutTrailingZeros(digits);
  const zeros = Number(exponent) - fraction.length + (digits.length - significant.length);
  if (zeros < 0) return undefined;
  if (significant.length + zeros > int64Digits) return sign === '-' ? -beyondInt64 : beyondInt64;
  return BigInt(sign + significant + '0'.repeat(zeros));
};
