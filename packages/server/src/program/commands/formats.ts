import { type NewPlant, parseNewPlant } from '@plantstore/core';
import { type ErrorName, errorMessages } from '@plantstore/core/errors';
import { decodeBody, encodeNewPlant } from '@plantstore/core/wire';
import { err, type Result } from 'neverthrow';
import type { FormatName } from './command.ts';
import { type Fields, type Scan, scanLine } from './read-records.ts';
import { createCsvScan } from './scan-csv.ts';

/** The plant of a record, or why it is invalid. */
export type Decoded = Result<NewPlant, string>;

/** Decodes the fields of a record. */
export type Decode = (fields: Fields) => Decoded;

type Format = {
  /** Empty if the format has none. */
  readonly header: string;
  readonly encode: (plant: NewPlant) => string;
  /** Creates a scanner of the records of one file. */
  readonly createScan: () => Scan;
  /** Returns the function for records after a header, or `undefined` for an invalid header. */
  readonly createDecode: (header: Fields) => Decode | undefined;
};

const describe = (names: readonly ErrorName[]): string =>
  names.map((name) => errorMessages[name].replace('the body', 'the record')).join('; ');

const parse = (value: unknown): Decoded =>
  parseNewPlant(value).mapErr(({ faults }) => describe(faults));

const decodeJson: Decode = ([line = '']) =>
  // A body may begin with a byte order mark, but no line of a file other than the first.
  line.startsWith('\ufeff')
    ? err(describe(['json-malformed']))
    : decodeBody(Buffer.from(line))
        .mapErr(({ kind }) => describe([kind]))
        .andThen(parse);

const quote = (text: string): string =>
  text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** Encodes a plant as a line; an absent tag is an empty field, and an empty one is `""`. */
const encodeCsv = ({ id, name, tag }: NewPlant): string =>
  `${id},${quote(name)},${tag === undefined ? '' : quote(tag)}\r\n`;

/** Parses at most 20 digits: any number with more is out of the range of int64, too. */
const idOf = (text: string | undefined): unknown => {
  // Most ids, and faster than a bigint.
  if (text !== undefined && /^-?\d{1,15}$/.test(text)) return Number(text);
  const [, sign = '', digits] = /^(-?)0*(\d+)$/.exec(text ?? '') ?? [];
  return digits === undefined ? text : BigInt(sign + digits.slice(0, 20));
};

/** Finds the columns by their names; other columns are ignored. */
const createCsvDecode = (header: Fields): Decode | undefined => {
  const columns = ['id', 'name', 'tag'];
  const [id = -1, name = -1, tag = -1] = columns.map((one) => header.indexOf(one));
  const isRepeated = columns.some((one) => header.indexOf(one) !== header.lastIndexOf(one));
  if (id === -1 || name === -1 || isRepeated) return undefined;
  return (fields) => parse({ id: idOf(fields[id]), name: fields[name], tag: fields[tag] });
};

export const formats: Readonly<Record<FormatName, Format>> = {
  ndjson: {
    header: '',
    encode: (plant) => `${encodeNewPlant(plant)}\n`,
    createScan: () => scanLine,
    createDecode: () => decodeJson,
  },
  csv: {
    header: 'id,name,tag\r\n',
    encode: encodeCsv,
    createScan: createCsvScan,
    createDecode: createCsvDecode,
  },
};

/** Returns the named format, else the format of the file's extension, else NDJSON. */
export const formatOf = (name: FormatName | undefined, file: string | undefined): Format =>
  formats[name ?? (/\.csv$/i.test(file ?? '') ? 'csv' : 'ndjson')];
