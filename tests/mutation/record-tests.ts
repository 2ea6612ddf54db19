import { appendFileSync } from 'node:fs';
import { beforeEach } from 'vitest';

const record = process.env['RECORD_TESTS'] ?? '';
const executed = globalThis as { readonly __executed?: Map<number, number> };

/** A setup file that writes the name of each test to the file to which `recordExecution` writes what it executes. */
beforeEach(({ task }) => {
  const names = [task.name];
  for (let { suite } = task; suite !== undefined; suite = suite.suite) names.unshift(suite.name);
  // Tests that run at the same time cannot be distinguished.
  const name = task.concurrent === true ? '' : names.join(' > ');
  executed.__executed?.clear();
  appendFileSync(record, `${JSON.stringify(name)}\n`);
});
