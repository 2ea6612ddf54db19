import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rowsOf, toBatch } from './batch.ts';

const text = fc.string({ unit: 'binary', maxLength: 5 });

it('a batch keeps every id, name and tag, and distinguishes no tag from an empty tag', () => {
  const plants = fc.array(
    fc.record(
      { id: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), name: text, tag: text },
      { requiredKeys: ['id', 'name'], noNullPrototype: true },
    ),
  );
  fc.assert(
    fc.property(plants, (batch) => {
      expect(rowsOf(structuredClone(toBatch(batch)))).toEqual(
        batch.map(({ id, name, tag }) => [id, name, tag ?? null]),
      );
    }),
  );
});
