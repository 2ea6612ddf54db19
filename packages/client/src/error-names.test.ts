import { errorTable } from '@plantstore/core/errors';
import { expect, it } from 'vitest';
import { errorNames } from './error-names.ts';

it('errorNames equals the error table of core', () => {
  const rows = Object.entries(errorTable).map(([name, { error }]) => [error, name]);
  expect(errorNames).toEqual(Object.fromEntries(rows));
});
