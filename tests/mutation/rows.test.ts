import { expect, it } from 'vitest';
import { findRow } from './find-row.ts';
import { rows } from './rows.ts';

it('each row of the mutation tests applies to the sources and names a test file', () => {
  expect(rows.map(findRow).flatMap((found) => (found.isErr() ? [found.error] : []))).toEqual([]);
});
