/**
 * Whether all cases of crashes, disk failures and acts run. `pnpm test` runs a fixed sample of
 * them, `pnpm test:all` the tests that import this module, also through others. A program that a
 * test starts therefore gets what to run as an argument.
 */
export const runsAll = process.env['ALL_TESTS'] !== undefined;

/** Returns the first case, or all if everything runs. */
export const firstOrAll = <T>(cases: readonly T[]): readonly T[] =>
  runsAll ? cases : cases.slice(0, 1);
