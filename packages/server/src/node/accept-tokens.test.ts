import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { acceptTokens } from './accept-tokens.ts';

describe('acceptTokens', () => {
  it('acceptTokens accepts exactly its tokens', () => {
    const authenticate = acceptTokens(['one', 'two', 'three==']);
    for (const token of ['one', 'two', 'three==']) expect(authenticate(token)).toBe(true);
    for (const token of ['', 'One', 'one ', 'onetwo', 'three=', 'tw']) {
      expect(authenticate(token)).toBe(false);
    }
  });

  it('acceptTokens compares a token with each of its tokens, in constant time', () => {
    const authenticate = acceptTokens(['one', 'two', 'three==']);
    const compare = vi.spyOn(crypto, 'timingSafeEqual');
    onTestFinished(() => {
      compare.mockRestore();
      syncBuiltinESMExports();
    });
    syncBuiltinESMExports();
    for (const token of ['one', 'two', 'four']) {
      compare.mockClear();
      authenticate(token);
      expect(compare).toHaveBeenCalledTimes(3);
    }
  });

  it('acceptTokens accepts no token for an empty list', () => {
    expect(acceptTokens([])('')).toBe(false);
  });

  it('acceptTokens throws a TypeError for a token that is not a valid bearer token', () => {
    expect(() => acceptTokens(['fine', 'two words'])).toThrow('cannot be sent');
  });

  it('acceptTokens throws a TypeError for an end that is not a time', () => {
    const endsAt = Date.parse('the end of the year');
    expect(() => acceptTokens([{ token: 'fine', endsAt }])).toThrow(TypeError);
  });

  it('acceptTokens uses the last name and end of a token that it gets twice', () => {
    const ended = { token: 'one', endsAt: 1 };
    expect(acceptTokens([ended, 'one'])('one')).toBe(true);
    expect(acceptTokens(['one', ended])('one')).toBe(false);
  });

  it('acceptTokens does not expose its tokens to util.inspect', () => {
    expect(inspect(acceptTokens(['s3cr3t']), { depth: null, showHidden: true })).not.toContain(
      's3cr3t',
    );
  });

  it('acceptTokens accepts a token with an end before it, and rejects it from then on', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 999 });
    onTestFinished(() => void vi.useRealTimers());
    const authenticate = acceptTokens([{ token: 'one', endsAt: 1_000 }, 'two']);
    expect([authenticate('one'), authenticate('two')]).toEqual([true, true]);
    vi.setSystemTime(1_000);
    expect([authenticate('one'), authenticate('two')]).toEqual([false, true]);
  });

  it('acceptTokens names the token that it accepts, if it has a name', () => {
    const authenticate = acceptTokens(['two', { token: 'one', name: 'greenhouse' }]);
    expect(['one', 'two', 'three'].map((token) => authenticate(token))).toEqual([
      { tokenName: 'greenhouse' },
      true,
      false,
    ]);
  });
});
