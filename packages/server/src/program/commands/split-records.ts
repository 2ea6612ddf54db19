/** A record of a file, without the end of its last line. */
export type FileRecord = {
  /** Number of its first line, from 1. */
  readonly line: number;
  /** `undefined` if the record is longer than any plant. */
  readonly bytes: Buffer | undefined;
};

/** Maximum of the setting --max-body-bytes. */
const maxRecordBytes = 256 * 2 ** 20;

const lineFeed = 0x0a;
const quoteMark = 0x22;

const hasOddQuotes = (bytes: Buffer): boolean => {
  let isOdd = false;
  for (let at = bytes.indexOf(quoteMark); at !== -1; at = bytes.indexOf(quoteMark, at + 1)) {
    isOdd = !isOdd;
  }
  return isOdd;
};

/**
 * Splits chunks into records, and yields the records that each chunk completes. With quotes, a line end between two
 * quotes is part of the record. Buffers at most 256 MiB.
 */
export async function* splitRecords(
  chunks: AsyncIterable<Buffer>,
  hasQuotes: boolean,
): AsyncGenerator<readonly FileRecord[], void, void> {
  let parts: Buffer[] = [];
  let size = 0;
  let isQuoted = false;
  let line = 1;
  let linesRead = 1;

  const add = (part: Buffer): void => {
    if (hasQuotes && hasOddQuotes(part)) isQuoted = !isQuoted;
    size += part.length;
    if (size > maxRecordBytes) parts = [];
    else parts.push(part);
  };
  const takeRecord = (): FileRecord => {
    const bytes = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    const record = { line, bytes: size > maxRecordBytes ? undefined : bytes };
    parts = [];
    size = 0;
    line = linesRead;
    return record;
  };

  for await (const chunk of chunks) {
    const records: FileRecord[] = [];
    let begin = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, begin)) {
      linesRead += 1;
      add(chunk.subarray(begin, end));
      // Between quotes, the line end is part of the record.
      if (isQuoted) add(chunk.subarray(end, end + 1));
      else records.push(takeRecord());
      begin = end + 1;
    }
    add(chunk.subarray(begin));
    yield records;
  }
  if (size > 0) yield [takeRecord()];
}
