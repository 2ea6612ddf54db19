import { type NewPlant, parseNewPlant } from '@plantstore/core';
import { type ErrorName, errorTable } from '@plantstore/core/errors';
import type { Result } from 'neverthrow';
import type { FormatName } from './command.ts';

/** Returns the plant that the members are, or why they are none. */
export function parsePlant(members: unknown): PlantRecord['decoded'] {
  return parseNewPlant(members).mapErr(({ faults }) => describeFaults(faults));
}

/** A format of files of plants. */
export type Format = {
  /** Empty if the format has none. */
  readonly header: string;
  /** The error is why the format cannot carry the plant. */
  readonly encode: (plant: NewPlant) => Result<string, string>;
  readonly read: (chunks: AsyncIterable<Buffer>) => Records;
};

/** The records that a chunk completes. An error is the last: the rest of the file was not read. */
export type Records = AsyncGenerator<Result<readonly PlantRecord[], string>, void, void>;

/** A record of a file; its lines are numbered from 1. */
export type PlantRecord = {
  readonly firstLine: number;
  readonly lastLine: number;
  /** The plant, or why it is invalid. */
  readonly decoded: Result<NewPlant, string>;
};

/** The formats by name. Each loads only what it needs: NDJSON takes no CSV parser. */
export const formats: Readonly<Record<FormatName, () => Promise<Format>>> = {
  ndjson: async () => (await import('./ndjson.ts')).ndjson,
  csv: async () => (await import('./csv.ts')).csv,
};

/** Returns the messages of the faults of a record. */
export function describeFaults(names: readonly ErrorName[]): string {
  return names.map((name) => errorTable[name].message.replace('the body', 'the record')).join('; ');
}
