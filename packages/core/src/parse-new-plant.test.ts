import { describe, expect, it } from 'vitest';
import { parseNewPlant } from './parse-new-plant.ts';

describe('parseNewPlant', () => {
  it.each([7, 7n, 0, -0, -1, -(2n ** 63n)])(
    'parseNewPlant accepts the id %s and returns a bigint',
    (id) => {
      const plant = parseNewPlant({ id, name: 'x', tag: undefined })._unsafeUnwrap();
      expect(plant).toStrictEqual({ id: BigInt(id), name: 'x' });
    },
  );

  it.each([
    ['no id', { name: 'x' }, ['id-required']],
    ['an undefined id', { id: undefined, name: 'x' }, ['id-required']],
    ['an id of null', { id: null, name: 'x' }, ['id-not-integer']],
    ['an id in a string', { id: '7', name: 'x' }, ['id-not-integer']],
    ['an id of true', { id: true, name: 'x' }, ['id-not-integer']],
    ['a fraction', { id: 1.5, name: 'x' }, ['id-not-integer']],
    ['a number that may have been rounded', { id: 2 ** 53, name: 'x' }, ['id-not-integer']],
    ['one more than int64', { id: 2n ** 63n, name: 'x' }, ['id-out-of-range']],
    ['one less than int64', { id: -(2n ** 63n) - 1n, name: 'x' }, ['id-out-of-range']],
    ['no name', { id: 7 }, ['name-required']],
    ['a name of null', { id: 7, name: null }, ['name-not-text']],
    ['a lone surrogate', { id: 7, name: '\ud800' }, ['name-not-text']],
    ['U+0000', { id: 7, name: 'a\0b' }, ['name-not-text']],
    ['a tag of null', { id: 7, name: 'x', tag: null }, ['tag-not-text']],
    ['a tag with U+0000', { id: 7, name: 'x', tag: '\0' }, ['tag-not-text']],
    [
      'every fault at once, in order',
      { tag: 1, name: 2, id: 3.5 },
      ['id-not-integer', 'name-not-text', 'tag-not-text'],
    ],
    ['an empty object', {}, ['id-required', 'name-required']],
    ['null', null, ['body-not-object']],
    ['an array', [], ['body-not-object']],
    ['a string', 'plant', ['body-not-object']],
    ['inherited members', Object.create({ id: 7, name: 'x' }), ['id-required', 'name-required']],
    [
      'a getter that throws',
      {
        get id() {
          throw new Error('no');
        },
      },
      ['body-not-object'],
    ],
    [
      'a revoked proxy',
      (() => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      })(),
      ['body-not-object'],
    ],
  ])('parseNewPlant rejects %s', (_, input, expected) => {
    const error = parseNewPlant(input)._unsafeUnwrapErr();
    expect(error).toEqual({ kind: 'plant-invalid', faults: expected });
  });

  it('parseNewPlant reads no tag of a prototype', () => {
    const input: unknown = Object.assign(Object.create({ tag: 'y' }), { id: 7, name: 'x' });
    expect(parseNewPlant(input)._unsafeUnwrap()).toStrictEqual({ id: 7n, name: 'x' });
  });

  it('parseNewPlant returns text unchanged: empty, untrimmed, not normalized', () => {
    for (const name of ['', ' x ', 'e\u0301', '\u00e9', '🪴']) {
      const plant = { id: 1n, name, tag: name };
      expect(parseNewPlant(plant)._unsafeUnwrap()).toEqual(plant);
    }
  });

  it('parseNewPlant ignores other members, including __proto__ and constructor', () => {
    const input: unknown = JSON.parse(
      '{"id":7,"name":"x","__proto__":{"tag":"evil"},"constructor":1,"colour":"green"}',
    );
    expect(parseNewPlant(input)._unsafeUnwrap()).toStrictEqual({ id: 7n, name: 'x' });
  });
});
