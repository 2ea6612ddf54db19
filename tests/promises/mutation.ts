/** A change of one piece of code that breaks a promise. */
export type Mutation = {
  /** The promise, as a user would state it. */
  readonly promise: string;
  /** The mutated file, from the root of the repository. */
  readonly file: string;
  /** Text that occurs once in the file. */
  readonly text: string;
  /** The text that replaces it. */
  readonly replacement: string;
  /** The test file that must fail, from the root of the repository. */
  readonly test: string;
};

/** Promise, text and replacement of a mutation. */
type Row = readonly [promise: string, text: string, replacement: string];

/**
 * Returns a function for the mutations of a file that one test file must detect. The test file is in the same folder, unless
 * its name has a path from the root of the repository.
 */
export const mutationsIn =
  (folder: string) =>
  (file: string, test: string, ...rows: readonly Row[]): readonly Mutation[] =>
    rows.map(([promise, text, replacement]) => ({
      promise,
      file: `${folder}/${file}`,
      text,
      replacement,
      test: `${test.startsWith('tests/') || test.startsWith('packages/') ? test : `${folder}/${test}`}.test.ts`,
    }));

/** Returns the source with the mutation. Throws if its text does not occur exactly once. */
export const mutate = (source: string, { file, text, replacement }: Mutation): string => {
  const parts = source.split(text);
  if (parts.length !== 2) {
    throw new Error(`${file}: ${parts.length - 1} occurrences of ${JSON.stringify(text)}, not 1`);
  }
  return parts.join(replacement);
};
