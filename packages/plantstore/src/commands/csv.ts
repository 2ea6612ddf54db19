import type { NewPlant } from '@plantstore/core';
import { fromTexts, isRequired, memberNames, toTexts } from '@plantstore/core/wire';
import { CsvError, parse, type Parser } from 'csv-parse';
import { err, ok } from 'neverthrow';
import { type Format, parsePlant, type PlantRecord, type Records } from './format.ts';

/** CSV (RFC 4180) with a header of the members' names. An empty field is an absent member. */
export const csv: Format = {
  header: `${memberNames.join()}\r\n`,
  encode(plant) {
    const texts = { id: String(plant.id), ...toTexts(plant) };
    const fields = memberNames.map((name) => texts[name]);
    if (fields.includes(''))
      return err('CSV has no empty text; export it as NDJSON, without --format');
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
  let fault: string | undefined;
  try {
    for await (const chunk of chunks) {
      await parser.write(decoder.decode(chunk, { stream: true }));
      yield ok(parser.records.splice(0));
    }
    await parser.write(decoder.decode());
    await parser.end();
  } catch (thrown) {
    fault = reasonOf(thrown, parser.lastLine);
  }
  yield ok(parser.records.splice(0));
  if (fault !== undefined) yield err(fault);
}

/** Parses CSV, and keeps the records that are complete, also if the next one is wrong. */
class CsvParser {
  readonly records: PlantRecord[] = [];
  /** The last line of the latest record; 0 before the first. */
  lastLine = 0;
  #hasLineEnd = true;
  /** The parser counts a CR LF in a field as two lines. */
  #counted = 0;
  readonly #parser: Parser = parse({
    columns: (names: string[]) => checkHeader(names),
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    // A quote that is not closed would buffer the rest of the file.
    max_record_size: 2 ** 28,
    on_record: (record: Fields, { lines }) => this.#add(record, lines),
  }).on('error', () => {});

  async write(text: string): Promise<void> {
    if (text !== '') this.#hasLineEnd = /[\r\n]$/.test(text);
    await new Promise<void>((resolve, reject) => {
      this.#parser.write(text, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Refuses the last record if no line end follows it, because it may be cut. */
  async end(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#parser.end((error?: Error | null) => (error ? reject(error) : resolve()));
    });
    if (this.#hasLineEnd) return;
    const last = this.records.pop();
    if (last === undefined) throw new RangeError(cutReason);
    this.records.push({ ...last, decoded: err(cutReason) });
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

const cutReason =
  'no line end follows it, so the file may be cut: if it is complete, append a line end';

type Fields = { readonly [Column in keyof NewPlant]?: string };

function checkHeader(names: string[]): string[] {
  const isComplete = memberNames.every((name) => !isRequired[name] || names.includes(name));
  const isKnown = names.every((name) => (memberNames as readonly string[]).includes(name));
  if (isComplete && isKnown && new Set(names).size === names.length) return names;
  throw new RangeError(`${headerRule}; it is ${JSON.stringify(names.join().slice(0, 200))}`);
}

const columns = memberNames.map((name) => (isRequired[name] ? name : `${name} (optional)`));
const headerRule = `the header must name each column once: ${columns.join(', ')}`;

function membersOf({ id, ...others }: Fields): Record<string, unknown> {
  const given = Object.entries(others).filter(([, text]) => text !== '');
  return {
    ...fromTexts(Object.fromEntries(given)),
    ...(id && { id: /^-?\d{1,40}$/.test(id) ? BigInt(id) : id }),
  };
}

/** Returns why what follows a line cannot be read. Rethrows other errors. */
function reasonOf(thrown: unknown, line: number): string {
  const { code, message } = thrown as NodeJS.ErrnoException;
  const isText = code === 'ERR_ENCODING_INVALID_ENCODED_DATA';
  if (!isText && !(thrown instanceof CsvError) && !(thrown instanceof RangeError)) throw thrown;
  const place = line === 0 ? 'the header, or the first record,' : `what follows line ${line}`;
  // The parser counts other lines.
  const reason = isText ? 'it is not valid UTF-8' : message.replace(/ (?:on|at) line \d+/, '');
  return `${place} cannot be read: ${reason}`;
}
