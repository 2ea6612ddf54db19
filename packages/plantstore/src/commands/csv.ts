import type { NewPlant } from '@plantstore/core';
import { isRequired, memberNames } from '@plantstore/core/wire';
import { CsvError, parse, type Parser } from 'csv-parse';
import { err, ok } from 'neverthrow';
import { type Format, parsePlant, type PlantRecord, type Records } from './format.ts';

/** CSV (RFC 4180) with a header of the members' names. An empty field is an absent member. */
export const csv: Format = {
  header: `${memberNames.join()}\r\n`,
  encode(plant) {
    const fields = memberNames.map((name) => plant[name]?.toString());
    if (fields.includes('')) return err('CSV has no empty text; export it without --format=csv');
    return ok(`${fields.map(encodeField).join()}\r\n`);
  },
  read: readCsv,
};

function encodeField(text = ''): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

async function* readCsv(chunks: AsyncIterable<Buffer>): Records {
  // The parser would replace what is not UTF-8.
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const parser = new CsvParser();
  try {
    for await (const chunk of chunks) {
      await parser.write(decoder.decode(chunk, { stream: true }));
      if (parser.records.length > 0) yield ok(parser.take());
    }
    await parser.end(decoder.decode());
  } catch (thrown) {
    if (parser.records.length > 0) yield ok(parser.take());
    yield err(reasonOf(thrown, parser.lastLine));
    return;
  }
  if (parser.records.length > 0) yield ok(parser.take());
}

/** Parses CSV, and keeps the records that are complete, also if the next one is wrong. */
class CsvParser {
  readonly records: PlantRecord[] = [];
  /** The last line of the latest record. */
  lastLine = 0;
  /** The parser counts a CR LF in a field as two lines. */
  #counted = 0;
  readonly #parser: Parser = parse({
    columns: (names: string[]) => checkHeader(names),
    skip_empty_lines: true,
    // A quote that is not closed would buffer the rest of the file.
    max_record_size: 2 ** 28,
    on_record: (record: Fields, { lines }) => this.#add(record, lines),
  }).on('error', () => {});

  async write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#parser.write(text, (error) => (error ? reject(error) : resolve()));
    });
  }

  async end(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#parser.once('error', reject).end(text, resolve);
    });
  }

  take(): readonly PlantRecord[] {
    return this.records.splice(0);
  }

  #add(record: Fields, lines: number): null {
    const text = Object.values(record).join('\0');
    this.#counted += text.split('\r\n').length - 1;
    this.lastLine = lines - this.#counted;
    const firstLine = this.lastLine - (text.split(/\r\n|[\r\n]/).length - 1);
    const decoded = parsePlant(membersOf(record));
    this.records.push({ firstLine, lastLine: this.lastLine, decoded });
    return null;
  }
}

type Fields = { readonly [Column in keyof NewPlant]?: string };

function checkHeader(names: string[]): string[] {
  const isComplete = memberNames.every((name) => !isRequired[name] || names.includes(name));
  const isKnown = names.every((name) => (memberNames as readonly string[]).includes(name));
  if (isComplete && isKnown && new Set(names).size === names.length) return names;
  throw new RangeError(`${headerRule}; it is ${JSON.stringify(names.join().slice(0, 200))}`);
}

const required = memberNames.filter((name) => isRequired[name]);
const optional = memberNames.filter((name) => !isRequired[name]);
const headerRule = `the header must name each column once, with commas between: ${required.join(', ')}, and optionally ${optional.join(', ')}`;

function membersOf(record: Fields): Record<string, unknown> {
  const given = Object.entries(record).filter(([, text]) => text !== '');
  return Object.fromEntries(
    given.map(([name, text]) => [
      name,
      name === 'id' && isInteger.test(text) ? BigInt(text) : text,
    ]),
  );
}

const isInteger = /^-?\d{1,40}$/;

/** Returns why the record after a line cannot be read. Rethrows other errors. */
function reasonOf(thrown: unknown, line: number): string {
  const isText = (thrown as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA';
  if (!isText && !(thrown instanceof CsvError) && !(thrown instanceof RangeError)) throw thrown;
  const reason = isText
    ? 'it is not valid UTF-8'
    : (thrown as Error).message.replace(lineOfParser, '');
  const place = line === 0 ? 'the header, or the first record,' : `what follows line ${line}`;
  return `${place} cannot be read: ${reason}`;
}

/** The parser counts other lines. */
const lineOfParser = / (?:on|at) line \d+/;
