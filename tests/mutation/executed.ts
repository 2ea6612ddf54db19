import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { Change } from './changes.ts';

/** The root of the repository. */
export const root = join(import.meta.dirname, '../..');

/** Code to change, whose execution is recorded under a number. */
export type Place = Pick<Change, 'kind' | 'start' | 'end'> & { readonly id: number };

const isStatement = ({ kind }: Place): boolean =>
  kind === 'deleted statement' || kind === 'dropped guard';

/**
 * Returns code that appends a number, at most once in 100 ms for each thread; `record-tests.ts` resets this for the thread
 * of the tests. The function is hoisted, because modules may import each other in a circle.
 */
const recorderTo = (record: string): string => `
function __execute(id) {
  const executed = (globalThis.__executed ??= new Map());
  const now = performance.now();
  if (now - executed.get(id) < 100) return;
  executed.set(id, now);
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
    ...ends.map((place) => ({ at: place.end, text: isStatement(place) ? '}' : '))' })),
    ...starts.map((place) => ({
      at: place.start,
      text: isStatement(place) ? `{__execute(${place.id});` : `(__execute(${place.id}),(`,
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

/**
 * Reads the file of `recordExecution` and `record-tests.ts`: the number of each executed place, and the names of the tests
 * that may have executed it. The name is empty for code that was executed before the first test or beside others.
 */
export const readExecuted = (record: string): ReadonlyMap<number, ReadonlySet<string>> => {
  const executed = new Map<number, Set<string>>();
  let test = '';
  for (const line of record.split('\n').slice(0, -1)) {
    if (line.startsWith('"')) test = JSON.parse(line) as string;
    else executed.set(Number(line), (executed.get(Number(line)) ?? new Set()).add(test));
  }
  return executed;
};

/** Returns the test files that may execute a source file: those of its package; the tests of the program for the server. */
export const testFilesFor = (file: string): readonly string[] => {
  const [folder = ''] = /^packages\/\w+\//.exec(file) ?? [];
  const isServer = folder === 'packages/server/';
  const others = isServer ? ['tests/{black-box,pages}/*.test.ts', 'examples/*.test.ts'] : [];
  return globSync([`${folder}src/**/*.test.ts`, ...others], { cwd: root });
};
