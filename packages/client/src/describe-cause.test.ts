import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostile, token } from '../test/fixtures.ts';
import { describeCause } from './failures.ts';

const describeThrown = (thrown: unknown) => describeCause(thrown, [token]);

describe('describeCause', () => {
  it('describeCause keeps the name, message, code and causes of an error', () => {
    const refused = Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED' });
    expect(describeThrown(new TypeError('fetch failed', { cause: refused }))).toEqual({
      name: 'TypeError',
      message: 'fetch failed',
      cause: { name: 'Error', message: 'connect refused', code: 'ECONNREFUSED' },
    });
  });

  it.each([
    ['a string', 'a string', 'string', 'a string'],
    ['a bigint', 7n, 'bigint', '7'],
    ['undefined', undefined, 'undefined', 'undefined'],
    ['null', null, 'object', 'null'],
    ['a symbol', Symbol('s'), 'symbol', 'Symbol(s)'],
    ['an object without a prototype', Object.create(null), 'object', 'a value without text'],
    ['an object with a number as its message', { message: 7 }, 'object', '[object Object]'],
    ['an object with a number as its code', { code: 20 }, 'object', '[object Object]'],
    ['a value whose members throw', hostile, 'function', expect.any(String) as unknown],
  ])('a cause that is %s is described by its type and its text', (_, thrown, name, message) => {
    expect(describeThrown(thrown)).toEqual({ name, message });
  });

  it('describeCause replaces each word that contains the token, in every member', () => {
    const text = `${token}Bearer (${token}${token}).`;
    const cause = { name: text, message: text, code: text };
    const redacted = '*** (***).';
    const expected = { name: redacted, message: redacted, code: redacted };
    expect(describeThrown({ ...cause, cause })).toEqual({ ...expected, cause: expected });
    expect(describeThrown(text).message).toBe(redacted);
    expect(describeThrown({ toString: () => text }).message).toBe(redacted);
  });

  it('describeCause describes four causes at most, also of a circular chain', () => {
    const circular: { message: string; cause?: unknown } = { message: 'again' };
    circular.cause = circular;
    const depthOf = (cause: ReturnType<typeof describeThrown> | undefined): number =>
      cause === undefined ? 0 : 1 + depthOf(cause.cause);
    expect(depthOf(describeThrown(circular))).toBe(4);
  });

  it('describeCause never returns a part of a token, for every surrounding text', () => {
    const tokens = fc.stringMatching(/^[A-Za-z0-9\-._~+/]{8,20}={0,2}$/);
    fc.assert(
      fc.property(tokens, fc.array(fc.string({ maxLength: 3 })), (secret, parts) => {
        const message = parts.join(secret);
        const described = describeCause({ message, name: secret }, [secret]);
        expect(described.message).not.toContain(secret);
        expect(described.name).not.toContain(secret);
      }),
    );
  });
});
