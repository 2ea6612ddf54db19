import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { acceptedToken } from '../settings/accepted-token.ts';
import { createTokenSet } from './token-set.ts';

describe('set of tokens', () => {
  it('a set of tokens accepts exactly the tokens of the last replacement', async () => {
    const { authenticate, replace } = createTokenSet([acceptedToken('one'), acceptedToken('two')]);
    expect([await authenticate('one'), await authenticate('three')]).toEqual([true, false]);
    replace([acceptedToken('two'), acceptedToken('three')]);
    expect(['one', 'two', 'three'].map((token) => authenticate(token))).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('a set of tokens accepts a token with an end before it, and refuses it from then on', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 999 });
    onTestFinished(() => void vi.useRealTimers());
    const token = { ...acceptedToken('one'), endsAt: 1_000 };
    const { authenticate } = createTokenSet([token, acceptedToken('two')]);
    expect([authenticate('one'), authenticate('two')]).toEqual([true, true]);
    vi.setSystemTime(1_000);
    expect([authenticate('one'), authenticate('two')]).toEqual([false, true]);
  });

  it('a set of tokens names the token that it accepts, if it has a name', () => {
    const named = { ...acceptedToken('one'), name: 'greenhouse' };
    const { authenticate } = createTokenSet([acceptedToken('two'), named]);
    expect(['one', 'two', 'three'].map((token) => authenticate(token))).toEqual([
      { tokenName: 'greenhouse' },
      true,
      false,
    ]);
  });
});
