/**
 * Whether all cases of crashes, disk failures and acts run. `pnpm test` runs a fixed sample of them,
 * `pnpm test:all` the tests that import this module, also through others. A program that a test
 * starts therefore gets what to run as an argument.
 */
export const runsAll = process.env['ALL_TESTS'] !== undefined;

/** Returns every `step`-th of the cases, from the first on; all of them if everything runs. */
export const sample = <T>(cases: readonly T[], step: number): readonly T[] =>
  cases.filter((_, index) => runsAll || index % step === 0);
