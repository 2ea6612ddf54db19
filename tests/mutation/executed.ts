import { globSync } from 'node:fs';
import { join } from 'node:path';

/** The root of the repository. */
export const root = join(import.meta.dirname, '../..');

/** Code whose execution is recorded under a number. */
export type Place = {
  readonly id: number;
  readonly start: number;
  readonly end: number;
  readonly isStatement: boolean;
};

/** Appends each number once for each thread. The function is hoisted, so that cyclic imports can call it. */
const recorderTo = (record: string): string => `
function __execute(id) {
  const executed = (globalThis.__executed ??= new Set());
  if (executed.has(id)) return;
  executed.add(id);
  try {
    process.getBuiltinModule('node:fs').appendFileSync(${JSON.stringify(record)}, id + '\\n');
  } catch {}
}`;

/** Returns a source that appends the number of each place to the file `record` when it is executed. */
export const recordExecution = (
  source: string,
  places: readonly Place[],
  record: string,
): string => {
  const starts = places.toSorted((one, other) => one.start - other.start || other.end - one.end);
  // An inner place ends before an outer one.
  const ends = starts.toReversed().toSorted((one, other) => one.end - other.end);
  const edits = [
    ...ends.map(({ end, isStatement }) => ({ at: end, text: isStatement ? '}' : '))' })),
    ...starts.map(({ start, id, isStatement }) => ({
      at: start,
      text: isStatement ? `{__execute(${id});` : `(__execute(${id}),(`,
    })),
  ].toSorted((one, other) => one.at - other.at);
  let recorded = '';
  let position = 0;
  for (const { at, text } of edits) {
    recorded += source.slice(position, at) + text;
    position = at;
  }
  return recorded + source.slice(position) + recorderTo(record);
};

/** Returns the test files that may execute a source file: those of its package; the tests of the program for the server. */
export const testFilesFor = (file: string): readonly string[] => {
  const [folder = ''] = /^packages\/\w+\//.exec(file) ?? [];
  const isServer = folder === 'packages/server/';
  const others = isServer ? ['tests/{black-box,pages}/*.test.ts', 'examples/*.test.ts'] : [];
  return globSync([`${folder}src/**/*.test.ts`, ...others], { cwd: root });
};
