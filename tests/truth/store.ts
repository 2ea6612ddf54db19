/** The plants of a disk: the text of each name and tag by id. */
export type Rows = ReadonlyMap<string, string>;

/** What another program reads, and what it reports as damage. */
export type Disk = { readonly rows: Rows; readonly damage?: string };

/** What the plants are stored in. */
export type Store = {
  readonly database: string;
  /** Environment variables of the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Reads the plants without code of this project. */
  readonly read: () => Promise<Disk>;
  /** Size of the WAL file of SQLite, in bytes. */
  readonly walSize: () => number;
  readonly reasons: Reasons;
  readonly dispose: () => Promise<void>;
};

/** Reasons that the program gives, and the causes of which one must have been there. */
export type Reasons = readonly (readonly [reason: RegExp, causes: string])[];

export const commonReasons: Reasons = [
  [/too many open files|EMFILE/, 'limits disk'],
  [/tokens/, 'tokens'],
];

/** The text by which plants are compared. */
export const textOf = (name: string, tag?: string | null): string =>
  JSON.stringify([name, tag ?? null]);

type Row = { readonly id: string | bigint; readonly name: string; readonly tag: string | null };

export const rowsOf = (rows: readonly unknown[]): Rows =>
  new Map((rows as readonly Row[]).map(({ id, name, tag }) => [String(id), textOf(name, tag)]));
