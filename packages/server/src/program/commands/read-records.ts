import { isUtf8 } from 'node:buffer';
import { err, ok, type Result } from 'neverthrow';

/** The fields of a record. One is `undefined` if it is absent. */
export type Fields = readonly (string | undefined)[];

/** A record of a file; its lines are numbered from 1. */
export type FileRecord = {
  readonly firstLine: number;
  readonly lastLine: number;
  /** The fields, or why the record cannot be read. */
  readonly fields: Result<Fields, string>;
};

/** What begins at an index of a text. */
export type Scanned = {
  /** The index at which it ends, after its line end. */
  readonly end: number;
  /** `undefined` for a blank line. */
  readonly fields: Result<Fields, string> | undefined;
};

/**
 * Reads the record that begins at the index `at`, on a line that ends before the index `next`. Returns `undefined` if the
 * record needs more text than there is, and the text is not the last.
 */
export type Scan = (text: string, at: number, next: number, isLast: boolean) => Scanned | undefined;

export const isBlank = (line: string): boolean => /^[ \t\r\n]*$/.test(line);

/** Reads a line as a record of one field. */
export const scanLine: Scan = (text, at, next) => {
  const line = text.slice(at, next);
  return { end: next, fields: isBlank(line) ? undefined : ok([line]) };
};

/** A body of the maximum of --max-body-bytes, and its line end. */
const maxRecordBytes = 256 * 2 ** 20 + 2;

/** Maximum size of a text that is decoded as a whole, in bytes. */
const maxTextBytes = 2 ** 22;

/** Maximum number of records that are yielded at once. */
const maxRecords = 10_000;

type Records<Rest> = Generator<readonly FileRecord[], Rest, void>;

const lineFeed = 0x0a;
const byteOrderMark = Buffer.from('\ufeff');

/** Returns the number of lines, of which the last may have no line end. */
const linesOf = (text: string): number => text.slice(0, -1).split('\n').length;

const countLineFeeds = (bytes: Uint8Array): number => {
  let count = 0;
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) {
    count += 1;
  }
  return count;
};

/** Decodes fields of UTF-8 that was read as Latin-1. */
const decodeFields = (fields: Fields): Result<Fields, string> => {
  const bytes = fields.map((field) => field && Buffer.from(field, 'latin1'));
  return bytes.every((field) => !field || isUtf8(field))
    ? ok(bytes.map((field) => field?.toString()))
    : err('the record is not valid UTF-8');
};

/**
 * Reads the records of chunks of UTF-8, and yields those that a chunk completes. A byte order mark at the start is
 * removed. After a record that cannot be read, reading continues in the line after its first one, so it costs no other
 * record. Buffers at most a record of `maxBytes` and two chunks.
 */
export async function* readRecords(
  chunks: AsyncIterable<Buffer>,
  scan: Scan,
  maxBytes = maxRecordBytes,
): AsyncGenerator<readonly FileRecord[], void, void> {
  let line = 1;
  let records: FileRecord[] = [];
  const takeRecords = (): readonly FileRecord[] => {
    const taken = records;
    records = [];
    return taken;
  };

  const add = (lastLine: number, fields: Result<Fields, string>): void => {
    records.push({ firstLine: line, lastLine, fields });
  };

  /** Adds a record that cannot be read, and continues in its second line. */
  const addUnreadable = (lastLine: number, reason: string): void => {
    const next = line + 1;
    add(lastLine, err(lastLine < next ? reason : `${reason}; reading continues in line ${next}`));
    line = next;
  };

  /** Reads the records of the buffer's lines. Returns the rest: an incomplete record, or one that is too long. */
  function* readLines(buffer: Buffer, isLast: boolean): Records<Buffer> {
    const bytes = isLast ? buffer : buffer.subarray(0, buffer.lastIndexOf(lineFeed) + 1);
    // A record that is not valid UTF-8 must not cost the others: they are decoded one by one. So is a long text, which
    // takes two bytes for each character as UTF-16.
    const encoding = bytes.length <= maxTextBytes && isUtf8(bytes) ? 'utf8' : 'latin1';
    const text = bytes.toString(encoding);
    const sizeOf = (from: number, to: number) => Buffer.byteLength(text.slice(from, to), encoding);
    let at = 0;
    while (at < text.length) {
      if (records.length >= maxRecords) yield takeRecords();
      const next = text.indexOf('\n', at) + 1 || text.length;
      const scanned = scan(text, at, next, isLast);
      if (
        scanned === undefined ||
        (bytes.length > maxBytes && sizeOf(at, scanned.end) > maxBytes)
      ) {
        break;
      }
      const { end, fields } = scanned;
      const lastLine = end > next ? line + linesOf(text.slice(next, end)) : line;
      if (fields !== undefined && fields.isErr()) {
        addUnreadable(lastLine, fields.error);
        at = next;
        continue;
      }
      if (fields !== undefined) {
        add(lastLine, encoding === 'utf8' ? fields : decodeFields(fields.value));
      }
      line = lastLine + 1;
      at = end;
    }
    return buffer.subarray(bytes.length - sizeOf(at, text.length));
  }

  /** Whether the rest of the line belongs to a record that is too long. */
  let isSkipping = false;
  function* readBuffer(buffer: Buffer, isLast: boolean): Records<Buffer> {
    let rest = yield* readLines(buffer, isLast);
    while (rest.length > maxBytes) {
      const lineFeeds = countLineFeeds(rest.subarray(0, maxBytes));
      addUnreadable(
        line + lineFeeds,
        `the record is longer than ${Math.floor(maxBytes / 2 ** 20)} MiB`,
      );
      const lineEnd = rest.indexOf(lineFeed);
      isSkipping = lineEnd === -1;
      rest = isSkipping ? Buffer.alloc(0) : yield* readLines(rest.subarray(lineEnd + 1), isLast);
    }
    yield takeRecords();
    return rest;
  }

  let parts: Buffer[] = [];
  let size = 0;
  // The size of a byte order mark.
  let neededSize = byteOrderMark.length;
  let isStart = true;
  const join = (): Buffer => {
    const buffer = Buffer.concat(parts);
    // Not kept in memory while the buffer is read.
    parts = [];
    const hasMark = isStart && buffer.subarray(0, byteOrderMark.length).equals(byteOrderMark);
    isStart = false;
    return hasMark ? buffer.subarray(byteOrderMark.length) : buffer;
  };

  for await (const chunk of chunks) {
    const begin = isSkipping ? chunk.indexOf(lineFeed) + 1 : 0;
    if (isSkipping && begin === 0) continue;
    isSkipping = false;
    parts.push(chunk.subarray(begin));
    size += chunk.length - begin;
    if (size < neededSize) continue;
    const rest = yield* readBuffer(join(), false);
    parts = [rest];
    size = rest.length;
    // Doubled, so that a long record is not read again for each chunk.
    neededSize = Math.min(2 * size, maxBytes + 1);
  }
  if (size > 0) yield* readBuffer(join(), true);
}
