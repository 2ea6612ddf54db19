import { type NewPlant, parseNewPlant } from '@plantstore/core';
import { type ErrorName, errorTable } from '@plantstore/core/errors';
import { decodeBody, encodeNewPlant, isRequired } from '@plantstore/core/wire';
import { err, ok, type Result } from 'neverthrow';
import type { FormatName } from './command.ts';
import type { CsvFields } from './read-csv.ts';
import { beginsWithMark, type FileLine, readLines } from './read-lines.ts';

/** A record of a file; its lines are numbered from 1. */
export type PlantRecord = {
  readonly firstLine: number;
  readonly lastLine: number;
  /** The plant, or why it is invalid. */
  readonly decoded: Result<NewPlant, string>;
};

/** The records that a chunk of a file completes. An error is the last: the rest of the file was not read. */
type Records = AsyncGenerator<Result<readonly PlantRecord[], string>, void, void>;

type Format = {
  /** Empty if the format has none. */
  readonly header: string;
  readonly encode: (plant: NewPlant) => string;
  /** Maximum size of an encoded plant that can be read again. */
  readonly maxBytes: number;
  readonly read: (chunks: AsyncIterable<Buffer>) => Records;
};

const describe = (names: readonly ErrorName[]): string =>
  names.map((name) => errorTable[name].message.replace('the body', 'the record')).join('; ');

const parse = (value: unknown): PlantRecord['decoded'] =>
  parseNewPlant(value).mapErr(({ faults }) => describe(faults));

/** A body of the maximum of --max-body-bytes, and a carriage return. */
const maxLineBytes = 256 * 2 ** 20 + 1;

const isBlank = (bytes: Buffer): boolean =>
  bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);

const decodeLine = ({ bytes }: FileLine): PlantRecord['decoded'] => {
  if (bytes === undefined) return err('the record is longer than 256 MiB');
  // A body may begin with a byte order mark, but no line of a file other than the first.
  if (beginsWithMark(bytes)) return err(describe(['json-malformed']));
  return decodeBody(bytes)
    .mapErr(({ kind }) => describe([kind]))
    .andThen(parse);
};

async function* readNdjson(chunks: AsyncIterable<Buffer>): Records {
  for await (const lines of readLines(chunks, maxLineBytes)) {
    const records = lines.filter(({ bytes }) => bytes === undefined || !isBlank(bytes));
    if (records.length === 0) continue;
    yield ok(
      records.map((line) => ({
        firstLine: line.number,
        lastLine: line.number,
        decoded: decodeLine(line),
      })),
    );
  }
}

const csvColumns = Object.keys(isRequired) as readonly (keyof NewPlant)[];

/** Maximum size of the text of a record: a quote that is not closed would otherwise buffer the rest of the file. */
const maxCsvBytes = 16 * 2 ** 20;

/** Returns the field of a member; an absent one is an empty field, and an empty text is `""`. */
const fieldOf = (member: NewPlant[keyof NewPlant]): string => {
  if (member === undefined) return '';
  const text = String(member);
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const encodeCsv = (plant: NewPlant): string =>
  `${csvColumns.map((column) => fieldOf(plant[column])).join()}\r\n`;

/** Parses at most 20 digits: any number with more is out of the range of int64, too. */
const idOf = (text: string | undefined): unknown => {
  // Most ids, and faster than a bigint.
  if (text !== undefined && /^-?\d{1,15}$/.test(text)) return Number(text);
  const [, sign = '', digits] = /^(-?)0*(\d+)$/.exec(text ?? '') ?? [];
  return digits === undefined ? text : BigInt(sign + digits.slice(0, 20));
};

const decodeFields = (fields: CsvFields): PlantRecord['decoded'] =>
  parse({ ...fields, id: idOf(fields.id) });

async function* readCsvPlants(chunks: AsyncIterable<Buffer>): Records {
  // Only an import of CSV loads the parser.
  const { readCsv } = await import('./read-csv.ts');
  for await (const records of readCsv(chunks, maxCsvBytes)) {
    yield records.map((all) =>
      all.map(({ fields, ...lines }) => ({ ...lines, decoded: decodeFields(fields) })),
    );
  }
}

export const formats: Readonly<Record<FormatName, Format>> = {
  ndjson: {
    header: '',
    encode: (plant) => `${encodeNewPlant(plant)}\n`,
    maxBytes: Infinity,
    read: readNdjson,
  },
  csv: {
    header: `${csvColumns.join()}\r\n`,
    encode: encodeCsv,
    maxBytes: maxCsvBytes,
    read: readCsvPlants,
  },
};

/** Returns the named format, else the format of the file's extension, else NDJSON. */
export const formatOf = (name: FormatName | undefined, file: string | undefined): Format =>
  formats[name ?? (/\.csv$/i.test(file ?? '') ? 'csv' : 'ndjson')];
