import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBody } from './decode-body.ts';
import { isExactId } from './exact-id.ts';
import {
  changeInside,
  complete,
  members,
  plantsWith,
  similarPlants,
  withMember,
} from './contract-plants.ts';
import {
  copyPlant,
  encodeNewPlant,
  encodePlant,
  differingMember,
  fromTexts,
  invalidMember,
  isRequired,
  memberNames,
  textLength,
  toTexts,
  withoutId,
} from './plant-members.ts';
import { parseNewPlant } from './parse-new-plant.ts';
import type { NewPlant } from './plant.ts';
import { NewPlant as schema } from './schemas.ts';
import { readableOnce } from '../test/readable-once.ts';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
// The unit 'binary' of fast-check takes a second of CPU time.
const text = fc
  .array(fc.integer({ min: 1, max: 0x10ffff }))
  .map((points) => String.fromCodePoint(...points).toWellFormed());

const copies: readonly [string, (plant: NewPlant) => unknown][] = [
  ['parseNewPlant', (plant) => parseNewPlant(plant)._unsafeUnwrap()],
  ['copyPlant', copyPlant],
  ['withoutId', withoutId],
];

describe.each(members)('the member %s of the schema', (member) => {
  const plant: NewPlant = { id: 7n, ...complete };

  it(`${member} is in every copy and in JSON`, () => {
    const encoded = [encodePlant, encodeNewPlant].map((encode): unknown =>
      JSON.parse(encode(plant)),
    );
    for (const copy of [...copies.map(([, copyOf]) => copyOf(plant)), ...encoded])
      expect(copy).toHaveProperty(member, complete[member]);
  });

  it.each([7, null, '\ud800', 'a\0'])(`${member} that is %j has an error of its own`, (value) => {
    const { faults } = parseNewPlant({ ...plant, [member]: value })._unsafeUnwrapErr();
    expect(faults).toEqual([expect.stringMatching(`^${member}-`)]);
  });

  it(`${member} is compared by differingMember, checked by invalidMember, and counted by textLength`, () => {
    const plants = plantsWith(member);
    for (const [index, one] of plants.entries()) {
      expect(invalidMember(one)).toBeUndefined();
      const differing = plants.map((other) => differingMember(one, other));
      expect(differing).toEqual(plants.map((_, at) => (at === index ? undefined : member)));
    }
    expect(invalidMember(withMember(complete, member, 7))).toBe(member);
    expect(differingMember(withMember(complete, member, 7), complete)).toBe(member);
    expect(textLength(complete)).toBe(Object.values(toTexts(complete)).join('').length);
  });
});

it('the texts of each plant that a store may confuse are those of no other, and become the same plant', () => {
  for (const pair of similarPlants) {
    const [one, other] = pair.map(toTexts);
    expect(one).not.toEqual(other);
    for (const plant of pair) expect(fromTexts(toTexts(plant))).toStrictEqual(withoutId(plant));
  }
});

it.each(copies)(
  'the copy of %s reads each member once, and shares nothing with the plant',
  (_, copyOf) => {
    const plant = structuredClone({ id: 7n, ...complete });
    const copy = copyOf(readableOnce(plant));
    for (const member of members) changeInside(plant[member]);
    expect(copy).toMatchObject(complete);
  },
);

it('isRequired has the members of the schema in their order', () => {
  expect(Object.keys(isRequired)).toEqual(memberNames);
  expect(memberNames).toEqual(Object.keys(schema.shape));
});

it('encodeNewPlant writes the id as an exact JSON number, and omits a tag that is undefined', () => {
  expect(encodeNewPlant({ id: -0, name: '0', tag: '$&' })).toBe('{"id":0,"name":"0","tag":"$&"}');
  expect(encodeNewPlant({ id: 1, name: '', tag: undefined })).toBe('{"id":1,"name":""}');
  const plant = fc.record({ id: int64, name: text, tag: text }, { requiredKeys: ['id', 'name'] });
  fc.assert(
    fc.property(plant, (newPlant) => {
      const bytes = new TextEncoder().encode(encodeNewPlant(newPlant));
      expect(decodeBody(bytes).andThen(parseNewPlant)._unsafeUnwrap()).toEqual(newPlant);
    }),
  );
});

it('isExactId is true for every int64 and every safe integer, and false for other values', () => {
  fc.assert(fc.property(int64, (id) => isExactId(id)));
  fc.assert(fc.property(fc.maxSafeInteger(), (id) => isExactId(id)));
  const others = [2n ** 63n, -(2n ** 63n) - 1n, 2 ** 53, 1.5, Number.NaN, Infinity, '7', null];
  for (const other of others) expect(isExactId(other)).toBe(false);
});
