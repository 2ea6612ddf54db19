import type { NewPlant } from '@plantstore/core';
import { err, ok, type Result } from 'neverthrow';

/** Header of CSV (RFC 4180). An empty field without quotes is absent, as in PostgreSQL's COPY; with quotes, it is an empty string. */
export const csvHeader = 'id,name,tag\r\n';

const quote = (text: string): string =>
  text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** Encodes a plant as a line. */
export const encodeCsv = ({ id, name, tag }: NewPlant): string =>
  `${id},${quote(name)},${tag === undefined ? '' : quote(tag)}\r\n`;

const decoder = new TextDecoder('utf-8', { fatal: true });

const textOf = (record: Uint8Array): string | undefined => {
  try {
    return decoder.decode(record).replace(/\r$/, '');
  } catch {
    return undefined;
  }
};

/** Returns the text and the end of the quoted field that begins at an index. */
const quotedField = (text: string, begin: number): { text: string; end: number } | undefined => {
  let value = '';
  let from = begin + 1;
  for (;;) {
    const at = text.indexOf('"', from);
    if (at === -1) return undefined;
    value += text.slice(from, at);
    if (text[at + 1] !== '"') return { text: value, end: at + 1 };
    value += '"';
    from = at + 2;
  }
};

const unquoted = (text: string): string | undefined => (text === '' ? undefined : text);

const plainField = (text: string, begin: number) => {
  const comma = text.indexOf(',', begin);
  const end = comma === -1 ? text.length : comma;
  const value = text.slice(begin, end);
  return value.includes('"') ? undefined : { text: unquoted(value), end };
};

type Fields = readonly (string | undefined)[];

/** Returns the fields of a record, or `undefined` for invalid CSV. A field is `undefined` if it is empty without quotes. */
const fieldsOf = (text: string): Fields | undefined => {
  // Most records, and faster than the loop.
  if (!text.includes('"')) return text.split(',').map(unquoted);
  const fields: (string | undefined)[] = [];
  for (let at = 0; ; at += 1) {
    const field = text[at] === '"' ? quotedField(text, at) : plainField(text, at);
    if (field === undefined) return undefined;
    fields.push(field.text);
    at = field.end;
    if (at === text.length) return fields;
    if (text[at] !== ',') return undefined;
  }
};

/** Number of columns, and their indexes; `tag` is -1 if there is no such column. */
export type Columns = {
  readonly count: number;
  readonly id: number;
  readonly name: number;
  readonly tag: number;
};

/** Parses the header; returns `undefined` if it lacks the column id or name. */
export const columnsOf = (record: Uint8Array): Columns | undefined => {
  const fields = fieldsOf(textOf(record) ?? '');
  if (fields === undefined) return undefined;
  const [id = -1, name = -1, tag = -1] = ['id', 'name', 'tag'].map((one) => fields.indexOf(one));
  return id === -1 || name === -1 ? undefined : { count: fields.length, id, name, tag };
};

/** Parses at most 20 digits: any number with more is out of the range of int64, too. */
const idOf = (text: string | undefined): unknown => {
  // Most ids, and faster than a bigint.
  if (text !== undefined && /^-?\d{1,15}$/.test(text)) return Number(text);
  const [, sign = '', digits] = /^(-?)0*(\d+)$/.exec(text ?? '') ?? [];
  return digits === undefined ? text : BigInt(sign + digits.slice(0, 20));
};

/** Decodes a record to the members of a plant, which are not validated yet. */
export const decodeCsv = (
  record: Uint8Array,
  { count, id, name, tag }: Columns,
): Result<unknown, string> => {
  const text = textOf(record);
  if (text === undefined) return err('the line is not valid UTF-8');
  const fields = fieldsOf(text);
  if (fields === undefined) return err('the line is not valid CSV: a quote is misplaced');
  if (fields.length !== count) {
    return err(`the line has ${fields.length} fields, and the header ${count}`);
  }
  return ok({ id: idOf(fields[id]), name: fields[name], tag: fields[tag] });
};
