import { type NewPlant, parseNewPlant } from '@plantstore/core';
import { type ErrorName, errorMessages } from '@plantstore/core/errors';
import { decodeBody, encodeNewPlant } from '@plantstore/core/wire';
import { err, type Result } from 'neverthrow';
import { columnsOf, csvHeader, decodeCsv, encodeCsv } from './csv.ts';

/** Names of the file formats. */
export const formatNames = ['ndjson', 'csv'] as const;
export type FormatName = (typeof formatNames)[number];

/** The plant of a record, or why it is invalid. */
export type Decoded = Result<NewPlant, string>;

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

const describe = (names: readonly ErrorName[]): string =>
  names.map((name) => errorMessages[name].replace('the body', 'the line')).join('; ');

const parse = (value: unknown): Decoded =>
  parseNewPlant(value).mapErr(({ faults }) => describe(faults));

export const formats: Readonly<Record<FormatName, Format>> = {
  ndjson: {
    header: '',
    encode: (plant) => `${encodeNewPlant(plant)}\n`,
    hasQuotes: false,
    readHeader: undefined,
    decode: (record) =>
      decodeBody(record)
        .mapErr(({ kind }) => describe([kind]))
        .andThen(parse),
  },
  csv: {
    header: csvHeader,
    encode: encodeCsv,
    hasQuotes: true,
    readHeader: (record) => {
      const columns = columnsOf(record);
      return columns && ((row) => decodeCsv(row, columns).andThen(parse));
    },
    decode: () => err('a line before the header'),
  },
};

/** Returns the named format, else the format of the file's extension, else NDJSON. */
export const formatOf = (name: FormatName | undefined, file: string | undefined): Format =>
  formats[name ?? (/\.csv$/i.test(file ?? '') ? 'csv' : 'ndjson')];
