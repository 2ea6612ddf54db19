import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { acceptTokens, acceptedToken, createTokenSet } from './accept-tokens.ts';

describe('acceptTokens', () => {
  it('accepts each of its tokens and nothing else', async () => {
    const authenticate = acceptTokens(['one', 'two', 'three==']);
    for (const token of ['one', 'two', 'three==']) expect(await authenticate(token)).toBe(true);
    for (const token of ['', 'One', 'one ', 'onetwo', 'three=', 'tw']) {
      expect(await authenticate(token)).toBe(false);
    }
  });

  it('accepts nothing where there is nothing to accept', async () => {
    expect(await acceptTokens([])('')).toBe(false);
  });

  it('cannot be made for a token that no request could bring', () => {
    expect(() => acceptTokens(['fine', 'two words'])).toThrow('cannot be sent');
  });

  it('shows no token', () => {
    expect(inspect(acceptTokens(['s3cr3t']), { depth: null, showHidden: true })).not.toContain(
      's3cr3t',
    );
  });
});

describe('a set of tokens', () => {
  it('accepts those that it was given last, and no others', async () => {
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
    let now = 999;
    const token = { ...acceptedToken('one'), endsAt: 1_000 };
    const { authenticate } = createTokenSet([token, acceptedToken('two')], () => now);
    expect([authenticate('one'), authenticate('two')]).toEqual([true, true]);
    now = 1_000;
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
