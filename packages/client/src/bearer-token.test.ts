import { describe, expect, it } from 'vitest';
import { bearerToken } from './bearer-token.ts';

describe('bearerToken', () => {
  it.each(['a', 'mF_9.B5f-4.1JqM', 'a+b/c~d==', '0'.repeat(5000)])('takes %s', (token) => {
    expect(bearerToken(token)).toMatchObject({ value: token });
  });

  it.each([
    '',
    '=',
    'a=b',
    'a b',
    'secret\n',
    'secret\r\nX-Evil: 1',
    'sécret',
    'Bearer secret',
    undefined,
    null,
    7,
    ['secret'],
    { toString: () => 'secret' },
    Symbol('secret'),
  ])('refuses %s without repeating it', (token) => {
    const refused = bearerToken(token);
    expect(refused).toMatchObject({ error: { kind: 'token-failed', attempts: 0 } });
    expect(JSON.stringify(refused)).not.toMatch(/s.cret/);
  });
});
