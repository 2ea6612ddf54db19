import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { acceptTokens } from './accept-tokens.ts';

describe('acceptTokens', () => {
  it('acceptTokens accepts exactly its tokens, and names those that have a name', () => {
    const authenticate = acceptTokens(['one', { token: 'two', name: 'greenhouse' }, 'three==']);
    expect(['one', 'two', 'three=='].map((token) => authenticate(token))).toEqual([
      true,
      { tokenName: 'greenhouse' },
      true,
    ]);
    for (const token of ['', 'One', 'one ', 'onetwo', 'three=', 'tw'])
      expect(authenticate(token)).toBe(false);
    expect(acceptTokens([])('')).toBe(false);
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

  it('acceptTokens throws a TypeError for a token that is not a valid bearer token, and for an end that is not a time', () => {
    const endsAt = Date.parse('the end of the year');
    for (const wrong of ['two words', { token: 'fine', endsAt }])
      expect(() => acceptTokens(['fine', wrong])).toThrow(TypeError);
  });

  it('acceptTokens does not expose its tokens to util.inspect', () => {
    const shown = inspect(acceptTokens(['s3cr3t']), { depth: null, showHidden: true });
    expect(shown).not.toContain('s3cr3t');
  });

  it('acceptTokens accepts a token before its end, and uses the last end of one that it gets twice', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 999 });
    onTestFinished(() => void vi.useRealTimers());
    const ending = { token: 'one', endsAt: 1_000 };
    const authenticate = acceptTokens([ending, 'two']);
    expect([authenticate('one'), authenticate('two')]).toEqual([true, true]);
    vi.setSystemTime(1_000);
    expect([authenticate('one'), authenticate('two')]).toEqual([false, true]);
    expect(acceptTokens([ending, 'one'])('one')).toBe(true);
    expect(acceptTokens(['one', ending])('one')).toBe(false);
  });
});
