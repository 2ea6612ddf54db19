import { isUtf8 } from 'node:buffer';
import type { NewPlant } from '@plantstore/core';
import { isRequired } from '@plantstore/core/wire';
import { CsvError, parse } from 'csv-parse';
import { err, ok, type Result } from 'neverthrow';
import { withoutMark } from './read-lines.ts';

/** The fields of a record by their columns. An empty field is absent, as in PostgreSQL's COPY; with quotes, it is empty text. */
export type CsvFields = { readonly [Column in keyof NewPlant]?: string | undefined };

/** A record of a file; its lines are numbered from 1. */
export type CsvRecord = {
  readonly firstLine: number;
  readonly lastLine: number;
  readonly fields: CsvFields;
};

/** Thrown to the parser, which ends and reports it. */
class Unreadable extends Error {}

const reasons: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quoted field is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote',
  INVALID_OPENING_QUOTE: 'a field that contains a quote must begin with one',
  CSV_RECORD_INCONSISTENT_FIELDS_LENGTH: 'it must have as many fields as the header',
};

/** Returns why a record cannot be read. Rethrows other errors. */
const reasonOf = (error: Error, maxBytes: number): string => {
  if (error instanceof Unreadable) return error.message;
  const code = error instanceof CsvError ? error.code : undefined;
  if (code === 'CSV_MAX_RECORD_SIZE') {
    return `it is longer than ${maxBytes / 2 ** 20} MiB, or a quoted field is not closed`;
  }
  const reason = code && reasons[code];
  if (!reason) throw error;
  return reason;
};

/** Without a maximum, a line of commas would take any amount of memory. */
const maxFields = 100;

const members = Object.keys(isRequired) as readonly (keyof NewPlant)[];
const required = members.filter((name) => isRequired[name]);
const optional = members.filter((name) => !isRequired[name]);

const headerRule = `the header must name each column once: ${required.join(', ')}, and optionally ${optional.join(', ')}`;

type Fields = readonly (string | undefined)[];

/** Returns the names of the columns. Throws if they are not those of a plant. */
const columnsOf = (header: Fields): readonly (keyof NewPlant)[] => {
  const known = members.filter((name) => header.includes(name));
  if (known.length === header.length && required.every((name) => known.includes(name)))
    return header as typeof known;
  throw new Unreadable(`${headerRule}; it is ${JSON.stringify(header.join(',').slice(0, 200))}`);
};

/** Decodes UTF-8 that was read as Latin-1. */
const decode = (field: string | undefined): string | undefined => {
  if (field === undefined || !/[\u0080-\u00ff]/.test(field)) return field;
  const bytes = Buffer.from(field, 'latin1');
  if (!isUtf8(bytes)) throw new Unreadable('it is not valid UTF-8');
  return bytes.toString();
};

const countLineEnds = (text: string): number => text.split(/\r\n|[\r\n]/).length - 1;

/**
 * Reads CSV (RFC 4180) in UTF-8, and yields the records that each chunk completes. A record ends with CR LF, LF or CR. The
 * error of a record that cannot be read is the last result: a misplaced quote may be in any record before or after it.
 */
export async function* readCsv(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Result<readonly CsvRecord[], string>, void, void> {
  let columns: readonly (keyof NewPlant)[] | undefined;
  let records: CsvRecord[] = [];
  // Without empty lines. The parser's own number counts a CR LF in quotes twice.
  let line = 1;
  let lineEnds = 0;

  const parser = parse({
    // Decoded here, because the parser replaces invalid UTF-8.
    encoding: 'latin1',
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    max_record_size: maxBytes,
    cast: (field, { index, quoting }) => {
      if (index === maxFields) throw new Unreadable(`it has more than ${maxFields} fields`);
      if (quoting) lineEnds += countLineEnds(field);
      return field === '' && !quoting ? undefined : field;
    },
    on_record: (encoded: Fields, { empty_lines: empty }) => {
      const fields = encoded.map(decode);
      if (columns === undefined) columns = columnsOf(fields);
      else {
        const firstLine = line + empty;
        records.push({
          firstLine,
          lastLine: firstLine + lineEnds,
          fields: Object.fromEntries(columns.map((name, index) => [name, fields[index]])),
        });
      }
      line += lineEnds + 1;
      lineEnds = 0;
      return null;
    },
  });
  // The callbacks below receive it.
  parser.on('error', () => {});
  const parseNext = async (chunk: Buffer | undefined): Promise<Error | undefined> =>
    new Promise((settle) => {
      const onParsed = (error?: Error | null) => settle(error ?? undefined);
      if (chunk === undefined) parser.end(onParsed);
      else parser.write(chunk, onParsed);
    });

  function* takeRecords(
    failure: Error | undefined,
  ): Generator<Result<readonly CsvRecord[], string>, void, void> {
    if (records.length > 0) yield ok(records);
    records = [];
    if (failure === undefined) return;
    const reason = reasonOf(failure, maxBytes);
    yield err(`line ${line + parser.info.empty_lines} cannot be read: ${reason}`);
  }

  for await (const chunk of withoutMark(chunks)) {
    const failure = await parseNext(chunk);
    yield* takeRecords(failure);
    if (failure !== undefined) return;
  }
  const failure = await parseNext(undefined);
  yield* takeRecords(failure);
  if (failure === undefined && columns === undefined) yield err(`${headerRule}; there is none`);
}
