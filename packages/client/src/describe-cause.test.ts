import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostile, token } from '../test/fixtures.ts';
import { describeCause } from './describe-cause.ts';
import { redactorOf } from './redactor.ts';

const redact = redactorOf([token]);
const describeThrown = (thrown: unknown) => describeCause(thrown, redact);

describe('describeCause', () => {
  it('keeps the name, message, code and causes of an error', () => {
    const refused = Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED' });
    expect(describeThrown(new TypeError('fetch failed', { cause: refused }))).toEqual({
      name: 'TypeError',
      message: 'fetch failed',
      cause: { name: 'Error', message: 'connect refused', code: 'ECONNREFUSED' },
    });
  });

  it.each([
    ['a string', { name: 'string', message: 'a string' }],
    [7n, { name: 'bigint', message: '7' }],
    [undefined, { name: 'undefined', message: 'undefined' }],
    [null, { name: 'object', message: 'null' }],
    [Symbol('s'), { name: 'symbol', message: 'Symbol(s)' }],
    [Object.create(null), { name: 'object', message: 'a value without text' }],
    [
      { message: 7, code: 20 },
      { name: 'object', message: '[object Object]' },
    ],
    [hostile, { name: 'function', message: 'a value without text' }],
  ])('describes what is no error (number %#)', (thrown, description) => {
    expect(describeThrown(thrown)).toEqual(description);
  });

  it('replaces each word that has the token in it, in every text', () => {
    const text = `${token}Bearer (${token}${token}).`;
    const cause = { name: text, message: text, code: text };
    const struck = '*** (***).';
    const expected = { name: struck, message: struck, code: struck };
    expect(describeThrown({ ...cause, cause })).toEqual({ ...expected, cause: expected });
    expect(describeThrown(text).message).toBe(struck);
    expect(describeThrown({ toString: () => text }).message).toBe(struck);
  });

  it('goes four causes deep, also around a circle', () => {
    const circle: { message: string; cause?: unknown } = { message: 'again' };
    circle.cause = circle;
    const depthOf = (cause: ReturnType<typeof describeThrown> | undefined): number =>
      cause === undefined ? 0 : 1 + depthOf(cause.cause);
    expect(depthOf(describeThrown(circle))).toBe(4);
  });

  it('never repeats a token, whatever is thrown around it', () => {
    const tokens = fc.stringMatching(/^[A-Za-z0-9\-._~+/]{6,20}={0,2}$/);
    fc.assert(
      fc.property(tokens, fc.array(fc.string({ maxLength: 3 })), (secret, parts) => {
        const message = parts.join(secret);
        const described = describeCause({ message, name: secret }, redactorOf([secret]));
        expect(described.message).not.toContain(secret);
        expect(described.name).not.toContain(secret);
      }),
    );
  });
});
