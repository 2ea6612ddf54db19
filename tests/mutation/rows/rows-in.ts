/** A change of one piece of code that breaks a promise. */
export type Row = {
  /** The promise, as a user would state it. */
  readonly name: string;
  /** The changed file, from the root of the repository. */
  readonly file: string;
  /** Text that occurs once in the file. */
  readonly text: string;
  /** The text that replaces it. */
  readonly replacement: string;
  /** The test file that must fail, from the root of the repository. */
  readonly test: string;
};

/** Returns a function for the rows of a file that one test file must detect, which is in the same folder or has a path from the root. */
export const rowsIn =
  (folder: string) =>
  (
    file: string,
    test: string,
    ...rows: readonly (readonly [promise: string, text: string, replacement: string])[]
  ): readonly Row[] =>
    rows.map(([name, text, replacement]) => ({
      name,
      file: `${folder}/${file}`,
      text,
      replacement,
      test: `${/^(tests|packages)\//.test(test) ? test : `${folder}/${test}`}.test.ts`,
    }));
