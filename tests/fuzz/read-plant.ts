/** A plant, parsed independently of the code of the server. */
export type ReadPlant = {
  readonly id: bigint;
  readonly name: string;
  readonly tag?: string | undefined;
};

const limit = 2n ** 63n;

/** Returns the int64 value of a JSON number, by arithmetic on its digits. */
const readInt64 = (source: string): bigint | undefined => {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source);
  if (parts === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return 0n;
  const power = Number(exponent) - fraction.length;
  // Outside this range of exponents, the number is too large or not an integer.
  if (power > 20 || power < -(whole.length + fraction.length)) return undefined;
  const scale = 10n ** BigInt(Math.abs(power));
  if (power < 0 && digits % scale !== 0n) return undefined;
  const size = power < 0 ? digits / scale : digits * scale;
  const id = sign === '-' ? -size : size;
  return id >= -limit && id < limit ? id : undefined;
};

/** Returns whether a value is a string with a UTF-8 form and without U+0000. */
const isText = (value: unknown): value is string => {
  if (typeof value !== 'string' || value.includes('\0')) return false;
  return Buffer.from(value).toString() === value;
};

/** A number with its source text. */
class SourceNumber {
  readonly source: string;
  constructor(source = '') {
    this.source = source;
  }
}

const readJson = (bytes: Buffer): unknown => {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? new SourceNumber(context?.source) : value,
  );
};

/** Returns the plant of a body; `undefined` if the body is not a valid plant. */
export const readPlant = (bytes: Buffer): ReadPlant | undefined => {
  let json: unknown;
  try {
    json = readJson(bytes);
  } catch {
    return undefined;
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined;
  const own: Record<string, unknown> = { ...json };
  const id = own['id'] instanceof SourceNumber ? readInt64(own['id'].source) : undefined;
  if (id === undefined || !isText(own['name'])) return undefined;
  if (!('tag' in own)) return { id, name: own['name'] };
  return isText(own['tag']) ? { id, name: own['name'], tag: own['tag'] } : undefined;
};
