/** A line of a file, without its line feed. */
export type FileLine = {
  /** Counted from 1. */
  readonly number: number;
  /** `undefined` if the line is too long. */
  readonly bytes: Buffer | undefined;
};

const lineFeed = 0x0a;
const byteOrderMark = Buffer.from('\ufeff');

export const beginsWithMark = (bytes: Buffer): boolean =>
  bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark);

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

/** Yields the lines that each chunk completes. Keeps at most a line of `maxBytes` and a chunk in memory. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<readonly FileLine[], void, void> {
  let number = 0;
  let parts: Buffer[] = [];
  let size = 0;
  const add = (part: Buffer): void => {
    size += part.length;
    if (size <= maxBytes) parts.push(part);
  };
  const takeLine = (): FileLine => {
    number += 1;
    const bytes = size <= maxBytes ? Buffer.concat(parts) : undefined;
    parts = [];
    size = 0;
    return { number, bytes };
  };

  for await (const chunk of withoutMark(chunks)) {
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
  if (size > 0) yield [takeLine()];
}
