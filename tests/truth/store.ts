import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { mayMount } from '@plantstore/test-support/small-disk';
import type { Perform } from './acts.ts';

/** The plants that another program reads, the text of each by its id, and what is damaged. */
export type Disk = { readonly rows: ReadonlyMap<string, string>; readonly damage?: string };

/** What the plants are stored in. */
export type Store = {
  readonly database: string;
  /** Environment variables of the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables of shell commands: the folder of its disk, and the path of a SQLite database. */
  readonly variables: { readonly FOLDER: string; readonly DB?: string };
  /** Reads the plants without code of this project. */
  readonly read: () => Promise<Disk>;
  /** The ways to perform an act that only this store has. */
  readonly ways: Readonly<Record<string, Perform>>;
  /** Reasons that the program gives, and the causes of which one must have been there. */
  readonly reasons: readonly (readonly [reason: RegExp, causes: string])[];
  readonly dispose: () => Promise<unknown>;
};

/** The text by which plants are compared. */
export const textOf = (name?: string, tag?: string | null): string =>
  JSON.stringify([name, tag ?? null]);

export function diskOf(rows: readonly unknown[], check = 'ok'): Disk {
  const plants = rows as readonly { id: string | bigint; name: string; tag: string | null }[];
  const found = new Map(plants.map(({ id, name, tag }) => [String(id), textOf(name, tag)]));
  const isSound = check === 'ok' && found.size === rows.length;
  return { rows: found, ...(!isSound && { damage: `${rows.length} rows: ${check}` }) };
}

export const damaged = (thrown: unknown): Disk => ({ rows: new Map(), damage: String(thrown) });

/** Runs shell commands. Rejects if they fail. */
export const shell = async (commands: string, variables: object): Promise<unknown> =>
  promisify(execFile)('sh', ['-c', commands], { env: { ...process.env, ...variables } });

/** Whether a database can be on a disk of its own, which becomes full. */
export const mayFill = process.geteuid?.() === 0 && (await mayMount(tmpdir()));

/** Reasons that a program of either store gives. */
export const commonReasons: Store['reasons'] = [
  [/too many open files|EMFILE/, 'limits disk'],
  [/tokens/, 'tokens'],
  [/certificate|tls/, 'tls'],
];
