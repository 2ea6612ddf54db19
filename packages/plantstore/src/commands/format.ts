import { type NewPlant, parseNewPlant } from '@plantstore/core';
import { type ErrorName, errorTable } from '@plantstore/core/errors';
import type { Result } from 'neverthrow';

/** A record of a file; its lines are numbered from 1. */
export type PlantRecord = {
  readonly firstLine: number;
  readonly lastLine: number;
  /** The plant, or why it is invalid. */
  readonly decoded: Result<NewPlant, string>;
};

/** The records that a chunk completes. An error is the last: the rest of the file was not read. */
export type Records = AsyncGenerator<Result<readonly PlantRecord[], string>, void, void>;

/** A format of files of plants. */
export type Format = {
  /** Empty if the format has none. */
  readonly header: string;
  readonly encode: (plant: NewPlant) => string;
  /** Maximum size of an encoded plant that can be read again. */
  readonly maxBytes: number;
  /** `isComplete`: the file is whole although its last line may have no end. */
  readonly read: (chunks: AsyncIterable<Buffer>, isComplete: boolean) => Records;
};

/** Returns the plant that the members are, or why they are none. */
export function parsePlant(members: unknown): PlantRecord['decoded'] {
  return parseNewPlant(members).mapErr(({ faults }) => describeFaults(faults));
}

/** Returns the messages of the faults of a record. */
export function describeFaults(names: readonly ErrorName[]): string {
  return names.map((name) => errorTable[name].message.replace('the body', 'the record')).join('; ');
}

const byteOrderMark = Buffer.from('\ufeff');

/** Returns whether bytes begin with a byte order mark. */
export function beginsWithMark(bytes: Buffer): boolean {
  return bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark);
}

/** Removes a byte order mark at the start of a file. */
export async function* withoutMark(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, void> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (start === undefined) {
      yield chunk;
      continue;
    }
    start = Buffer.concat([start, chunk]);
    if (start.length < byteOrderMark.length) continue;
    yield start.subarray(beginsWithMark(start) ? byteOrderMark.length : 0);
    start = undefined;
  }
  if (start !== undefined) yield start;
}
