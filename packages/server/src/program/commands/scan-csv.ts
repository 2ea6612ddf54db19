import { err, ok } from 'neverthrow';
import { isBlank, type Scan, type Scanned } from './read-records.ts';

type Field = { readonly value: string | undefined; readonly end: number };

/** An empty field is absent, as in PostgreSQL's COPY; with quotes, it is empty text. */
const absentIfEmpty = (field: string): string | undefined => (field === '' ? undefined : field);

/** Returns the quoted field that begins at an index, or `undefined` if no quote closes it. */
const scanQuoted = (text: string, begin: number): Field | undefined => {
  let value = '';
  let from = begin + 1;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return undefined;
    value += text.slice(from, quote);
    if (text[quote + 1] !== '"') return { value, end: quote + 1 };
    value += '"';
    from = quote + 2;
  }
};

const unquoted = /[^,\n]*/y;

const scanUnquoted = (text: string, begin: number): Field => {
  unquoted.lastIndex = begin;
  const [match = ''] = unquoted.exec(text) ?? [];
  const end = begin + match.length;
  const value = text[end] === '\n' && match.endsWith('\r') ? match.slice(0, -1) : match;
  return { value: absentIfEmpty(value), end };
};

const unreadable = (end: number, reason: string): Scanned => ({ end, fields: err(reason) });
const moreFields = 'the record has more fields than the header';

/** Scans a record that may have quotes, and at most `maxFields`, because a misplaced quote may be in other records. */
const scanFields = (
  text: string,
  begin: number,
  isLast: boolean,
  maxFields: number,
): Scanned | undefined => {
  const fields: (string | undefined)[] = [];
  for (let at = begin; ; at += 1) {
    const field = text[at] === '"' ? scanQuoted(text, at) : scanUnquoted(text, at);
    if (field === undefined) {
      return isLast ? unreadable(text.length, 'a quoted field is not closed') : undefined;
    }
    fields.push(field.value);
    at = field.end;
    if (text[at] === ',') {
      if (fields.length < maxFields) continue;
      return unreadable(at, moreFields);
    }
    if (text.startsWith('\r\n', at)) at += 1;
    return at === text.length || text[at] === '\n'
      ? { end: Math.min(at + 1, text.length), fields: ok(fields) }
      : unreadable(at, 'text follows a closing quote');
  }
};

/**
 * Creates a scanner of CSV (RFC 4180). A quote opens a field only at its start; elsewhere it is text. The first record is
 * the header: the others have as many fields.
 */
export const createCsvScan = (): Scan => {
  let count: number | undefined;
  return (text, at, next, isLast) => {
    const line = text.slice(at, next).replace(/\r?\n$/, '');
    if (isBlank(line)) return { end: next, fields: undefined };
    const scanned = line.includes('"')
      ? scanFields(text, at, isLast, count ?? Infinity)
      : { end: next, fields: ok(line.split(',').map(absentIfEmpty)) };
    if (scanned?.fields?.isOk() !== true) return scanned;
    const { length } = scanned.fields.value;
    count ??= length;
    if (length === count) return scanned;
    return unreadable(
      scanned.end,
      length > count ? moreFields : 'the record has fewer fields than the header',
    );
  };
};
