import { expect, it } from 'vitest';
import { fuzz } from './fuzz.ts';

it(
  'the server has all required properties for arbitrary bytes on its sockets',
  // 12 seconds of requests, then the shrinking of a failure.
  { timeout: 120_000 },
  async () => {
    const seed = Date.now() % 2 ** 31;
    const { figures, failure } = await fuzz({ seed, seconds: 12 });
    console.log(figures);
    expect(failure).toBeUndefined();
  },
);
