import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { acceptTokens, acceptedToken, createTokenSet } from './accept-tokens.ts';

describe('acceptTokens', () => {
  it('accepts exactly its tokens', async () => {
    const authenticate = acceptTokens(['one', 'two', 'three==']);
    for (const token of ['one', 'two', 'three==']) expect(await authenticate(token)).toBe(true);
    for (const token of ['', 'One', 'one ', 'onetwo', 'three=', 'tw']) {
      expect(await authenticate(token)).toBe(false);
    }
  });

  it('accepts no token for an empty list', async () => {
    expect(await acceptTokens([])('')).toBe(false);
  });

  it('throws a TypeError for a token that is not a valid bearer token', () => {
    expect(() => acceptTokens(['fine', 'two words'])).toThrow('cannot be sent');
  });

  it('does not expose its tokens to util.inspect', () => {
    expect(inspect(acceptTokens(['s3cr3t']), { depth: null, showHidden: true })).not.toContain(
      's3cr3t',
    );
  });
});

describe('a set of tokens', () => {
  it('accepts exactly the tokens of the last replacement', async () => {
    const { authenticate, replace } = createTokenSet([acceptedToken('one'), acceptedToken('two')]);
    expect([await authenticate('one'), await authenticate('three')]).toEqual([true, false]);
    replace([acceptedToken('two'), acceptedToken('three')]);
    expect(['one', 'two', 'three'].map((token) => authenticate(token))).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('accepts a token with an end before it, and refuses it from then on', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 999 });
    onTestFinished(() => void vi.useRealTimers());
    const token = { ...acceptedToken('one'), endsAt: 1_000 };
    const { authenticate } = createTokenSet([token, acceptedToken('two')]);
    expect([authenticate('one'), authenticate('two')]).toEqual([true, true]);
    vi.setSystemTime(1_000);
    expect([authenticate('one'), authenticate('two')]).toEqual([false, true]);
  });

  it('names the token that it accepts, if it has a name', () => {
    const named = { ...acceptedToken('one'), name: 'greenhouse' };
    const { authenticate } = createTokenSet([acceptedToken('two'), named]);
    expect(['one', 'two', 'three'].map((token) => authenticate(token))).toEqual([
      { tokenName: 'greenhouse' },
      true,
      false,
    ]);
  });
});
