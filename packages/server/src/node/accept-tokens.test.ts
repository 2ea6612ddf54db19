import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { acceptTokens } from './accept-tokens.ts';

describe('acceptTokens', () => {
  it('acceptTokens accepts exactly its tokens', async () => {
    const authenticate = acceptTokens(['one', 'two', 'three==']);
    for (const token of ['one', 'two', 'three==']) expect(await authenticate(token)).toBe(true);
    for (const token of ['', 'One', 'one ', 'onetwo', 'three=', 'tw']) {
      expect(await authenticate(token)).toBe(false);
    }
  });

  it('acceptTokens accepts no token for an empty list', async () => {
    expect(await acceptTokens([])('')).toBe(false);
  });

  it('acceptTokens throws a TypeError for a token that is not a valid bearer token', () => {
    expect(() => acceptTokens(['fine', 'two words'])).toThrow('cannot be sent');
  });

  it('acceptTokens does not expose its tokens to util.inspect', () => {
    expect(inspect(acceptTokens(['s3cr3t']), { depth: null, showHidden: true })).not.toContain(
      's3cr3t',
    );
  });
});
