import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { Change } from './changes.ts';

/** The root of the repository. */
export const root = join(import.meta.dirname, '../..');

/** Code to change, whose execution is recorded under a number. */
export type Place = Pick<Change, 'kind' | 'start' | 'end'> & { readonly id: number };

const isStatement = ({ kind }: Place): boolean =>
  kind === 'deleted statement' || kind === 'dropped guard';

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

/** Returns the test files that may execute a source file: those of its package; the tests of the program for the server. */
export const testFilesFor = (file: string): readonly string[] => {
  const [folder = ''] = /^packages\/\w+\//.exec(file) ?? [];
  const isServer = folder === 'packages/server/';
  const others = isServer ? ['tests/{black-box,pages}/*.test.ts', 'examples/*.test.ts'] : [];
  return globSync([`${folder}src/**/*.test.ts`, ...others], { cwd: root });
};
