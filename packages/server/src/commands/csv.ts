import type { NewPlant } from '@plantstore/core';

/** CSV as RFC 4180 has it. An empty field without quotes is absent, as in PostgreSQL's COPY; one with quotes is empty text. */
export const csvHeader = 'id,name,tag\r\n';

const quote = (text: string): string =>
  text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** Writes a plant as a line. */
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

/** The end of a quoted field that begins at an index, and its text. */
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

const plainField = (text: string, begin: number) => {
  const comma = text.indexOf(',', begin);
  const end = comma === -1 ? text.length : comma;
  const value = text.slice(begin, end);
  return value.includes('"') ? undefined : { text: value === '' ? undefined : value, end };
};

type Fields = readonly (string | undefined)[];

/** The fields of a record, `undefined` for one that is empty and has no quotes; or `undefined` for no record. */
const fieldsOf = (text: string): Fields | undefined => {
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

/** Which field is which; -1 where the file has no column of tags. */
export type Columns = {
  readonly count: number;
  readonly id: number;
  readonly name: number;
  readonly tag: number;
};

/** Reads the header; `undefined` where it does not name the columns id and name. */
export const columnsOf = (record: Uint8Array): Columns | undefined => {
  const fields = fieldsOf(textOf(record) ?? '');
  if (fields === undefined) return undefined;
  const [id = -1, name = -1, tag = -1] = ['id', 'name', 'tag'].map((one) => fields.indexOf(one));
  return id === -1 || name === -1 ? undefined : { count: fields.length, id, name, tag };
};

/** Digits beyond those of an int64 are out of its range, however many they are. */
const idOf = (text: string | undefined): unknown => {
  const [, sign = '', digits] = /^(-?)0*(\d+)$/.exec(text ?? '') ?? [];
  return digits === undefined ? text : BigInt(sign + digits.slice(0, 20));
};

/** Reads a record as the members of a plant, not yet checked. */
export const decodeCsv = (record: Uint8Array, columns: Columns) => {
  const text = textOf(record);
  if (text === undefined) return { fault: 'the line is not valid UTF-8' };
  const fields = fieldsOf(text);
  if (fields === undefined) return { fault: 'the line is not valid CSV: a quote is misplaced' };
  if (fields.length !== columns.count) {
    return { fault: `the line has ${fields.length} fields, and the header ${columns.count}` };
  }
  return { id: idOf(fields[columns.id]), name: fields[columns.name], tag: fields[columns.tag] };
};
