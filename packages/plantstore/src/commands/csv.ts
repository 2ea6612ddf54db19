import { isUtf8 } from 'node:buffer';
import type { NewPlant } from '@plantstore/core';
import { fromTexts, isRequired, memberNames, toTexts } from '@plantstore/core/wire';
import { CsvError, parse } from 'csv-parse';
import { err, ok, type Result } from 'neverthrow';
import { nearestName } from '../settings/nearest-name.ts';
import { type Format, parsePlant, type PlantRecord, type Records, withoutMark } from './format.ts';

/** Maximum size of a record: a quote that is not closed would buffer the rest of the file. */
const maxRecordBytes = 16 * 2 ** 20;

/** CSV (RFC 4180) with a header. */
export const csv: Format = {
  header: `${memberNames.join()}\r\n`,
  encode: (plant) => {
    const texts = { id: String(plant.id), ...toTexts(plant) };
    return `${memberNames.map((name) => fieldOf(texts[name])).join()}\r\n`;
  },
  maxBytes: maxRecordBytes,
  read: readPlants,
};

/** Returns the field of a member; an absent one is an empty field, and an empty text is `""`. */
function fieldOf(text: string | undefined): string {
  if (text === undefined) return '';
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

async function* readPlants(chunks: AsyncIterable<Buffer>, isComplete: boolean): Records {
  for await (const records of readCsv(chunks, maxRecordBytes, isComplete)) {
    yield records.map((all) =>
      all.map(({ fields, ...lines }) => ({ ...lines, decoded: decodeFields(fields) })),
    );
  }
}

function decodeFields(fields: CsvRecord['fields']): PlantRecord['decoded'] {
  if (fields === undefined) return err(cutReason);
  return parsePlant({ ...fromTexts(fields), id: idOf(fields.id) });
}

const cutReason =
  'no line end follows it, so the file may be cut; if it is whole, import it with --complete';

/** Parses at most 20 digits: any number with more is out of the range of int64, too. */
function idOf(text: string | undefined): unknown {
  // Most ids, and faster than a bigint.
  if (text !== undefined && /^-?\d{1,15}$/.test(text)) return Number(text);
  const [, sign = '', digits] = /^(-?)0*(\d+)$/.exec(text ?? '') ?? [];
  return digits === undefined ? text : BigInt(sign + digits.slice(0, 20));
}

/** A record of a file; its lines are numbered from 1. */
type CsvRecord = {
  readonly firstLine: number;
  readonly lastLine: number;
  /**
   * The fields by their columns. An empty field is absent, as in PostgreSQL's COPY; with quotes, it
   * is empty text. `undefined` for a last record that may be cut.
   */
  readonly fields: { readonly [Column in keyof NewPlant]?: string | undefined } | undefined;
};

type CsvRecords = Result<readonly CsvRecord[], string>;

/** A field, without quotes. */
type Field = string | undefined;

/** Without a maximum, a line of commas would take any amount of memory. */
const maxFields = 100;

/**
 * Reads CSV in UTF-8, and yields the records that each chunk completes. A record ends with CR LF, LF
 * or CR. An error is the last result: its misplaced quote may be in any record before or after it.
 *
 * @param isComplete - whether the last record is read although no line end follows it
 */
export async function* readCsv(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
  isComplete: boolean,
): AsyncGenerator<CsvRecords, void, void> {
  let columns: readonly (keyof NewPlant)[] | undefined;
  let records: CsvRecord[] = [];
  // Without empty lines. The parser's own number counts a CR LF in quotes twice.
  let line = 1;
  let lineEnds = 0;
  let size = 0;
  let lastByte: number | undefined;

  const parser = parse({
    // Decoded here, because the parser replaces invalid UTF-8.
    encoding: 'latin1',
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    // Compared with the header here, where a last record can be cut.
    relax_column_count: true,
    max_record_size: maxBytes,
    cast: (field, { index, quoting }) => {
      if (index === maxFields) throw new Unreadable(`it has more than ${maxFields} fields`);
      if (quoting) lineEnds += countLineEnds(field);
      return field === '' && !quoting ? undefined : field;
    },
    on_record: (encoded: readonly Field[], { empty_lines: empty, bytes }) => {
      const firstLine = line + empty;
      const lines = { firstLine, lastLine: firstLine + lineEnds };
      const mayBeCut = !isComplete && bytes === size && !isLineEnd(lastByte);
      if (columns === undefined) {
        columns = columnsOf(encoded.map(decode));
        if (mayBeCut) throw new Unreadable(cutReason);
      } else {
        records.push({ ...lines, fields: mayBeCut ? undefined : fieldsOf(columns, encoded) });
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

  function* takeRecords(failure: Error | undefined): Generator<CsvRecords, void, void> {
    if (records.length > 0) yield ok(records);
    records = [];
    if (failure === undefined) return;
    const reason = reasonOf(failure, maxBytes);
    // A semicolon after a quoted name is text after a closing quote.
    const more = columns === undefined && failure instanceof CsvError ? `; ${separatorRule}` : '';
    yield err(`line ${line + parser.info.empty_lines} cannot be read: ${reason}${more}`);
  }

  for await (const chunk of withoutMark(chunks)) {
    size += chunk.length;
    lastByte = chunk.at(-1) ?? lastByte;
    const failure = await parseNext(chunk);
    yield* takeRecords(failure);
    if (failure !== undefined) return;
  }
  const failure = await parseNext(undefined);
  yield* takeRecords(failure);
  if (failure === undefined && columns === undefined) yield err(`${headerRule}; it is missing`);
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === 0x0a || byte === 0x0d;
}

function countLineEnds(text: string): number {
  return text.split(/\r\n|[\r\n]/).length - 1;
}

/** Decodes UTF-8 that was read as Latin-1. */
function decode(field: Field): Field {
  if (field === undefined || !/[\u0080-\u00ff]/.test(field)) return field;
  const bytes = Buffer.from(field, 'latin1');
  if (!isUtf8(bytes)) throw new Unreadable('it is not valid UTF-8');
  return bytes.toString();
}

const required = memberNames.filter((name) => isRequired[name]);
const optional = memberNames.filter((name) => !isRequired[name]);

const headerRule = `the header must name each column once: ${required.join(', ')}, and optionally ${optional.join(', ')}`;

const separatorRule = 'fields are separated by a comma';

/** Returns the names of the columns. Throws if they are not those of a plant. */
function columnsOf(header: readonly Field[]): readonly (keyof NewPlant)[] {
  const fault = headerFaultOf(header.map((name) => name ?? ''));
  if (fault === undefined) return header as readonly (keyof NewPlant)[];
  const found = JSON.stringify(header.join(',').slice(0, 200));
  throw new Unreadable(`${headerRule}; ${fault}; it is ${found}`);
}

/** Returns what is wrong with the first wrong name of a header. */
function headerFaultOf(header: readonly string[]): string | undefined {
  const names: readonly string[] = memberNames;
  for (const [index, name] of header.entries()) {
    if (header.indexOf(name) < index) return `${name} is named twice`;
    if (names.includes(name)) continue;
    const shown = JSON.stringify(name.slice(0, 50));
    const separator = header.length === 1 ? /[;\t|]/.exec(name)?.[0] : undefined;
    if (separator !== undefined) return `${separatorRule}, not by ${JSON.stringify(separator)}`;
    const nearest = nearestName(name.trim(), names, '');
    return `${shown} is not a column${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
  }
  const missing = required.find((name) => !header.includes(name));
  return missing && `${missing} is missing`;
}

/** Returns the fields of a record by their columns. Throws if they are not as many, or no UTF-8. */
function fieldsOf(columns: readonly (keyof NewPlant)[], encoded: readonly Field[]) {
  if (encoded.length !== columns.length)
    throw new Unreadable('it must have as many fields as the header');
  return Object.fromEntries(columns.map((name, index) => [name, decode(encoded[index])]));
}

/** Thrown to the parser, which ends and reports it. */
class Unreadable extends Error {}

const reasons: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quoted field is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote',
  INVALID_OPENING_QUOTE: 'a field that contains a quote must begin with one',
};

/** Returns why a record cannot be read. Rethrows other errors. */
function reasonOf(error: Error, maxBytes: number): string {
  if (error instanceof Unreadable) return error.message;
  const code = error instanceof CsvError ? error.code : undefined;
  if (code === 'CSV_MAX_RECORD_SIZE') {
    return `it is longer than ${maxBytes / 2 ** 20} MiB, or a quoted field is not closed`;
  }
  const reason = code && reasons[code];
  if (!reason) throw error;
  return reason;
}
