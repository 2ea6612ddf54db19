import { isDeepStrictEqual } from 'node:util';
import { okAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { createMemoryRepository } from './memory-repository.ts';
import { describeRepository, type OpenedRepository } from './repository-contract.ts';
import { refusing, wrongPairs, wrongRepositories } from '../test/wrong-repositories.ts';

/** Runs the suite on a repository until `most` of its tests have failed, and returns their names. */
const failures = async (
  open: () => Promise<OpenedRepository>,
  most = Infinity,
): Promise<string[]> => {
  const tests: [string, () => Promise<void>][] = [];
  const runner = {
    describe: (_: string, body: () => void) => body(),
    it: (name: string, body: () => Promise<void>) => tests.push([name, body]),
    // Without a description of the difference, which takes longer than the tests.
    expect: (actual: unknown) => ({
      toEqual: (expected: unknown) => {
        if (!isDeepStrictEqual(actual, expected)) throw new Error('not equal');
      },
    }),
  };
  describeRepository(runner, 'under test', open);
  const failed: string[] = [];
  for (const [name, body] of tests) {
    await body().catch(() => failed.push(name));
    if (failed.length === most) break;
  }
  return failed;
};

describe('repository contract', () => {
  it('the repository contract passes for a repository, for one with a rule, and for two on the same plants', async () => {
    expect(await failures(async () => ({ repository: createMemoryRepository() }))).toEqual([]);
    expect(await failures(refusing(({ tag }) => tag === 'weed'))).toEqual([]);
    const open = async () => {
      const repository = createMemoryRepository();
      return { repository, second: repository };
    };
    expect(await failures(open)).toEqual([]);
  });

  it.each(Object.entries(wrongRepositories))(
    'the repository contract catches a repository that %s',
    async (_, open) => {
      expect(await failures(open, 1)).toHaveLength(1);
    },
  );

  it.each(Object.entries(wrongPairs))(
    'the repository contract catches a repository that %s, with a second one only',
    async (_, open) => {
      expect(await failures(async () => ({ repository: open()[0] }))).toEqual([]);
      const failed = await failures(async () => {
        const [repository, second] = open();
        return { repository, second };
      });
      expect(failed).not.toEqual([]);
    },
  );

  it('the repository contract disposes of the repository after each test, also after a failed one', async () => {
    let opened = 0;
    await failures(async () => {
      opened += 1;
      return {
        repository: { create: () => okAsync() },
        dispose: async () => {
          opened -= 1;
        },
      };
    });
    expect(opened).toBe(0);
  });
});
