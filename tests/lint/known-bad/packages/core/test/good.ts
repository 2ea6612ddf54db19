// expected: nothing
import fc from 'fast-check';
import { it } from 'vitest';

it('is a test', () => {
  fc.assert(fc.property(fc.string(), (text) => text.length >= 0));
});
