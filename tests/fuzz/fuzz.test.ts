import { expect, it } from 'vitest';
import { fuzz } from './fuzz.ts';

it('the server has all required properties for arbitrary bytes on its sockets', async () => {
  const seed = Date.now() % 2 ** 31;
  const { figures, failure } = await fuzz(seed, 2);
  console.log(figures);
  expect(failure).toBeUndefined();
});
