import { type NewPlant, parseNewPlant } from '@plantstore/core';
import { type ErrorName, errorMessages } from '@plantstore/core/errors';
import { decodeBody, encodeNewPlant } from '@plantstore/core/wire';
import { columnsOf, csvHeader, decodeCsv, encodeCsv } from './csv.ts';

/** Names of the file formats. */
export const formatNames = ['ndjson', 'csv'] as const;
export type FormatName = (typeof formatNames)[number];

/** The plant of a record, or why it is invalid. */
export type Decoded =
  | { readonly kind: 'plant'; readonly plant: NewPlant }
  | { readonly kind: 'fault'; readonly reason: string };

/** Decodes a record after the header, if the format has one. */
export type Decode = (record: Uint8Array) => Decoded;

type Format = {
  readonly header: string;
  readonly encode: (plant: NewPlant) => string;
  /** Whether a record may contain line ends between quotes. */
  readonly hasQuotes: boolean;
  /** Parses the header, if the format has one; returns `undefined` for an invalid header. */
  readonly readHeader: ((record: Uint8Array) => Decode | undefined) | undefined;
  readonly decode: Decode;
};

const fault = (reason: string): Decoded => ({ kind: 'fault', reason });

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

/** Returns the named format, else the format of the file's extension, else NDJSON. */
export const formatOf = (name: FormatName | undefined, file: string | undefined): Format =>
  formats[name ?? (/\.csv$/i.test(file ?? '') ? 'csv' : 'ndjson')];
