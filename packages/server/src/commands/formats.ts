import { type NewPlant, parseNewPlant } from '@plantstore/core';
import { type ErrorName, errorMessages } from '@plantstore/core/errors';
import { decodeBody, encodeNewPlant } from '@plantstore/core/wire';
import { columnsOf, csvHeader, decodeCsv, encodeCsv } from './csv.ts';

/** How plants are written in a file. */
export const formatNames = ['ndjson', 'csv'] as const;
export type FormatName = (typeof formatNames)[number];

/** The plant of a record, or why there is none. */
export type Decoded =
  | { readonly kind: 'plant'; readonly plant: NewPlant }
  | { readonly kind: 'fault'; readonly why: string };

/** Reads the records after the header, if the format has one. */
export type Decode = (record: Uint8Array) => Decoded;

type Format = {
  readonly header: string;
  readonly encode: (plant: NewPlant) => string;
  /** Whether a record may have ends of lines between quotes. */
  readonly hasQuotes: boolean;
  /** Reads the first record; `undefined` where it is no header, though the format has one. */
  readonly readHeader: ((record: Uint8Array) => Decode | undefined) | undefined;
  readonly decode: Decode;
};

const fault = (why: string): Decoded => ({ kind: 'fault', why });

const describe = (names: readonly ErrorName[]): string =>
  names.map((name) => errorMessages[name].replace('the body', 'the line')).join('; ');

const decodeValue = (value: unknown): Decoded => {
  const parsed = parseNewPlant(value);
  if (parsed.isErr()) return fault(describe(parsed.error.faults));
  return { kind: 'plant', plant: parsed.value };
};

const decodeJson: Decode = (record) => {
  const decoded = decodeBody(record);
  return decoded.isErr() ? fault(describe([decoded.error.kind])) : decodeValue(decoded.value);
};

const csvWithColumns =
  (columns: NonNullable<ReturnType<typeof columnsOf>>): Decode =>
  (record) => {
    const row = decodeCsv(record, columns);
    return 'fault' in row ? fault(row.fault) : decodeValue(row);
  };

export const formats: Readonly<Record<FormatName, Format>> = {
  ndjson: {
    header: '',
    encode: (plant) => `${encodeNewPlant(plant)}\n`,
    hasQuotes: false,
    readHeader: undefined,
    decode: decodeJson,
  },
  csv: {
    header: csvHeader,
    encode: encodeCsv,
    hasQuotes: true,
    readHeader: (record) => {
      const columns = columnsOf(record);
      return columns === undefined ? undefined : csvWithColumns(columns);
    },
    decode: () => fault('a line before the header'),
  },
};

/** The format that was asked for, else that of the file's name, else NDJSON. */
export const formatOf = (name: FormatName | undefined, file: string | undefined): Format =>
  formats[name ?? (/\.csv$/i.test(file ?? '') ? 'csv' : 'ndjson')];
