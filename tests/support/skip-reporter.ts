import type { Reporter, TestCase } from 'vitest/node';

/** Prints why tests were skipped, below all other results. */
export function skipReporter(): Reporter {
  let isFiltered = false;
  return {
    onInit({ config }) {
      isFiltered = config.testNamePattern !== undefined;
    },
    onTestRunEnd(modules) {
      const skipped = modules
        .flatMap(({ children }) => [...children.allTests('skipped')])
        // A pattern of names skips the other tests.
        .filter((test) => !isFiltered || statedReason(test) !== undefined);
      const byReason = Map.groupBy(
        skipped,
        (test) => statedReason(test) ?? `no reason is given in ${test.module.relativeModuleId}`,
      );
      if (skipped.length > 0) console.log('Skipped tests:');
      for (const [reason, { length }] of byReason) console.log(`${length}: ${reason}`);
    },
  };
}

function statedReason(test: TestCase): string | undefined {
  const result = test.result();
  return test.meta().skipReason ?? (result.state === 'skipped' ? result.note : undefined);
}
