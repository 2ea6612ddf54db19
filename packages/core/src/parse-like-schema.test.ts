import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseNewPlant } from './parse-new-plant.ts';
import { NewPlant } from './plant.ts';

/** Returns the faults that the schema finds, as names of the error table. */
const schemaFaults = (input: object): string[] => {
  const parsed = NewPlant.safeParse(input);
  if (parsed.success) return [];
  const found = new Map(parsed.error.issues.map(({ path: [member], code }) => [member, code]));
  return ['id', 'name', 'tag'].flatMap((member) => {
    const code = found.get(member);
    if (code === undefined) return [];
    if (!(member in input)) return [`${member}-required`];
    if (member !== 'id') return [`${member}-not-text`];
    return [code === 'invalid_type' ? 'id-not-integer' : 'id-out-of-range'];
  });
};

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom('\ud800', '\udc00\ud800', '\0', 'a\0b', ''),
);
const id = fc.oneof(
  fc.bigInt(-(2n ** 64n), 2n ** 64n),
  fc.constantFrom<unknown>(2n ** 63n, 2n ** 63n - 1n, -(2n ** 63n), -(2n ** 63n) - 1n),
  fc.constantFrom<unknown>(2 ** 53, 2 ** 53 - 1, -(2 ** 53), -0, Number.NaN, Infinity, 1.5),
  fc.maxSafeInteger(),
  fc.double(),
  fc.anything(),
);
const input = fc.record(
  { id, name: fc.oneof(text, fc.anything()), tag: fc.oneof(text, fc.anything()), x: fc.anything() },
  { requiredKeys: [] },
);

describe('parseNewPlant and the schema NewPlant', () => {
  it('accept the same plants and find the same faults', () => {
    fc.assert(
      fc.property(input, (given) => {
        // parseNewPlant treats an undefined member as absent; the schema does not.
        const present = Object.fromEntries(
          Object.entries(given).filter(([, value]) => value !== undefined),
        );
        const read = parseNewPlant(given);
        expect(read.isErr() ? read.error.faults : []).toEqual(schemaFaults(present));
        if (read.isOk()) expect(read.value).toEqual(NewPlant.parse(present));
      }),
      { numRuns: 20_000 },
    );
  });
});
