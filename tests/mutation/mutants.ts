import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changedLinesSince } from './changed-lines.ts';
import { type Change, changesOf } from './changes.ts';
import { rows } from './rows/index.ts';
import { root } from './executed.ts';

/** One change of a file. */
export type Mutant = {
  readonly name: string;
  /** By hand, or made from the syntax tree. */
  readonly kind: Change['kind'] | 'row';
  readonly file: string;
  /** The replaced text, and where it begins: -1 if it does not occur exactly once. */
  readonly text: string;
  readonly start: number;
  readonly replacement: string;
  /** The test file that must fail; `undefined` for any that executes the changed code. */
  readonly test?: string;
};

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const lineOf = (source: string, offset: number): number =>
  source.slice(0, offset).split('\n').length;

/** Returns the changes by hand. */
export const mutantsOfRows = (): readonly Mutant[] =>
  rows.map((row) => {
    const [before = '', ...others] = read(row.file).split(row.text);
    return { ...row, kind: 'row', start: others.length === 1 ? before.length : -1 };
  });

/** Returns the changes of the syntax trees of files, in the lines for which `isChanged` returns true. */
const mutantsOf = (
  pattern: string,
  isChanged: (file: string, first: number, last: number) => boolean,
): readonly Mutant[] => {
  const files = globSync(pattern, { cwd: root, exclude: ['**/*.test.ts', '**/*.test-d.ts'] });
  return files.flatMap((file) => {
    const source = read(file);
    return changesOf(file, source).flatMap(({ kind, start, end, replacement }) => {
      const first = lineOf(source, start);
      return isChanged(file, first, lineOf(source, end))
        ? [
            {
              name: `${kind} in line ${first}`,
              kind,
              file,
              text: source.slice(start, end),
              start,
              replacement,
            },
          ]
        : [];
    });
  });
};

/** Returns the changes in the lines that differ from a commit. */
export const mutantsSince = (commit: string): readonly Mutant[] =>
  mutantsOf('packages/*/src/**/*.ts', changedLinesSince(commit));

/** A number that does not depend on where a mutant is. */
const numberOf = ({ file, text, replacement }: Mutant): number =>
  createHash('sha256')
    .update(file + text + replacement)
    .digest()
    .readUInt32BE();

/** Returns a random part of the changes of the code that Stryker does not change, such as `3/16`, in random order. */
export const mutantsOfSlice = (slice: string): readonly Mutant[] => {
  const [part = NaN, count = NaN] = slice.split('/').map(Number);
  if (!Number.isInteger(part) || !Number.isInteger(count) || part < 1 || part > count)
    throw new Error('--slice must be a part and the number of parts, such as 3/16');
  const pattern = 'packages/{postgres/src,server/src/node,server/src/program,sqlite/src}/**/*.ts';
  return mutantsOf(pattern, () => true)
    .filter((mutant) => numberOf(mutant) % count === part - 1)
    .toSorted((one, other) => numberOf(one) - numberOf(other));
};
