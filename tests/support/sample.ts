/** Whether long loops run completely, as `pnpm test:all` does; `pnpm test` runs a fixed sample of them. */
export const runsAll = process.env['ALL_TESTS'] !== undefined;

/** Returns every `step`-th of the cases, from the first on; all of them if everything runs. */
export const sample = <T>(cases: readonly T[], step: number): readonly T[] =>
  cases.filter((_, index) => runsAll || index % step === 0);
