import { decodeBody, encodeNewPlant } from '@plantstore/core/wire';
import { err, ok } from 'neverthrow';
import {
  describeFaults,
  type Format,
  parsePlant,
  type PlantRecord,
  type Records,
} from './format.ts';

/** One JSON object a line. A last line requires no end: a cut object has no closing brace. */
export const ndjson: Format = {
  header: '',
  encode: (plant) => ok(`${encodeNewPlant(plant)}\n`),
  read: readNdjson,
};

/** A body of the maximum of --max-body-bytes, and a carriage return. */
const maxLineBytes = 256 * 2 ** 20 + 1;

async function* readNdjson(chunks: AsyncIterable<Buffer>): Records {
  for await (const lines of readLines(chunks, maxLineBytes)) {
    const records = lines.flatMap(({ number, bytes }) =>
      bytes !== undefined && isBlank(bytes)
        ? []
        : [{ firstLine: number, lastLine: number, decoded: decodeLine(bytes) }],
    );
    yield ok(records);
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

function decodeLine(bytes: Buffer | undefined): PlantRecord['decoded'] {
  if (bytes === undefined) return err('the record is longer than 256 MiB');
  return decodeBody(bytes)
    .mapErr(({ kind }) => describeFaults([kind]))
    .andThen(parsePlant);
}

/** A line of a file, without its line feed. */
type FileLine = {
  /** Counted from 1. */
  readonly number: number;
  /** `undefined` if the line is too long. */
  readonly bytes: Buffer | undefined;
};

const lineFeed = 0x0a;

/** Yields the lines that each chunk completes. Keeps at most a line of `maxBytes` and a chunk. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<readonly FileLine[], void, void> {
  let number = 0;
  let parts: Buffer[] = [];
  let size = 0;

  for await (const chunk of chunks) {
    const lines: FileLine[] = [];
    let begin = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, begin)) {
      add(chunk.subarray(begin, end));
      lines.push(takeLine());
      begin = end + 1;
    }
    add(chunk.subarray(begin));
    yield lines;
  }
  // Empty after a line feed: `readNdjson` skips blank lines.
  yield [takeLine()];

  function add(part: Buffer): void {
    size += part.length;
    if (size <= maxBytes) parts.push(part);
  }

  function takeLine(): FileLine {
    number += 1;
    const bytes = size <= maxBytes ? Buffer.concat(parts) : undefined;
    parts = [];
    size = 0;
    return { number, bytes };
  }
}
