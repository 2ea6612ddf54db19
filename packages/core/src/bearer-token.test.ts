import { expect, it } from 'vitest';
import { isBearerToken } from './bearer-token.ts';

it.each(['a', 'Z', '0', 'mF_9.B5f-4.1JqM~+/', 'a=', 'ab=='])('%j is a bearer token', (text) => {
  expect(isBearerToken(text)).toBe(true);
});

it.each(['', '=', 'a=b', ' a', 'a b', 'a ', 'a\n', 'a,b', 'é'])('%j is no bearer token', (text) => {
  expect(isBearerToken(text)).toBe(false);
});
