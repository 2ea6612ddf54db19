/** A plant as the fuzzer reads it, by other code than the server's. */
export type ReadPlant = { readonly id: bigint; readonly name: string; readonly tag?: string };

const limit = 2n ** 63n;

/** The int64 that a JSON number writes out, by arithmetic on its digits. */
const readInt64 = (source: string): bigint | undefined => {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source);
  if (parts === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return 0n;
  const power = Number(exponent) - fraction.length;
  // Beyond these powers it is too large, or not whole.
  if (power > 20 || power < -(whole.length + fraction.length)) return undefined;
  const scale = 10n ** BigInt(Math.abs(power));
  if (power < 0 && digits % scale !== 0n) return undefined;
  const size = power < 0 ? digits / scale : digits * scale;
  const id = sign === '-' ? -size : size;
  return id >= -limit && id < limit ? id : undefined;
};

/** Text that has a UTF-8 form, and no U+0000. */
const isText = (value: unknown): value is string => {
  if (typeof value !== 'string' || value.includes('\0')) return false;
  return Buffer.from(value).toString() === value;
};

/** A number of the JSON text, as it is written. */
class WrittenNumber {
  readonly source: string;
  constructor(source = '') {
    this.source = source;
  }
}

const readJson = (bytes: Buffer): unknown => {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? new WrittenNumber(context?.source) : value,
  );
};

/** The plant that a body describes, or `undefined` where it describes none. */
export const readPlant = (bytes: Buffer): ReadPlant | undefined => {
  let json: unknown;
  try {
    json = readJson(bytes);
  } catch {
    return undefined;
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined;
  const own: Record<string, unknown> = { ...json };
  const id = own['id'] instanceof WrittenNumber ? readInt64(own['id'].source) : undefined;
  if (id === undefined || !isText(own['name'])) return undefined;
  if (!('tag' in own)) return { id, name: own['name'] };
  return isText(own['tag']) ? { id, name: own['name'], tag: own['tag'] } : undefined;
};
