import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { err, ok, type Result } from 'neverthrow';
import { fileErrorReason } from '../file-error-reason.ts';
import { shown } from '../settings/text.ts';

/**
 * Opens a file, or standard input for `undefined` and `-`, and yields its bytes. The error is a
 * message for the operator, also if it is compressed, a database or a dump.
 */
export async function openSource(
  file: string | undefined,
  stdin: () => Readable,
): Promise<Result<AsyncGenerator<Buffer, void, void>, string>> {
  const path = file === '-' ? undefined : file;
  // Larger reads than the default, because each has a fixed cost.
  const stream = path === undefined ? stdin() : createReadStream(path, { highWaterMark: 2 ** 18 });
  const chunks: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
  try {
    const start = await readStart(chunks);
    const firstBytes = start.toString('latin1', 0, 64);
    const found = kinds.find(({ magic }) => firstBytes.startsWith(magic));
    if (found !== undefined) return err(adviceFor(found, path));
    return ok(read(start));
  } catch (thrown) {
    return err(`cannot read ${path ?? 'standard input'}: ${fileErrorReason(thrown)}`);
  }

  async function* read(start: Buffer): AsyncGenerator<Buffer, void, void> {
    let next: IteratorResult<Buffer, unknown> = { value: start };
    for (; next.done !== true; next = await chunks.next()) yield next.value;
  }
}

/** Reads until it can have no more of the first bytes of a kind; a line of a terminal has none. */
async function readStart(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let start = Buffer.alloc(0);
  const mayBe = ({ magic }: Kind) =>
    start.length < magic.length && magic.startsWith(start.toString('latin1'));
  while (kinds.some(mayBe)) {
    const next = await chunks.next();
    if (next.done === true) break;
    start = Buffer.concat([start, next.value]);
  }
  return start;
}

const dumpName = 'a dump of PostgreSQL: restore it with pg_restore or psql';
const exportPostgres = 'plantstore export --database postgres://HOST/DATABASE';

/** Files that are none of plants, and the command that makes one of them. */
const kinds: readonly Kind[] = [
  { name: 'compressed by gzip', magic: '\x1f\x8b', command: 'zcat FILE' },
  { name: 'compressed by xz', magic: '\xfd7zXZ\0', command: 'xzcat FILE' },
  { name: 'compressed by zstd', magic: '\x28\xb5\x2f\xfd', command: 'zstdcat FILE' },
  { name: 'a zip archive', magic: 'PK\x03\x04', command: 'unzip -p FILE' },
  {
    name: 'a SQLite database',
    magic: 'SQLite format 3\0',
    command: 'plantstore export --database sqlite:FILE',
  },
  { name: dumpName, magic: 'PGDMP', command: exportPostgres },
  { name: dumpName, magic: '--\n-- PostgreSQL database dump', command: exportPostgres },
  { name: 'UTF-16', magic: '\xff\xfe', command: 'iconv -f UTF-16 -t UTF-8 FILE' },
  { name: 'UTF-16', magic: '\xfe\xff', command: 'iconv -f UTF-16 -t UTF-8 FILE' },
];

/** The first bytes of a kind of file, as Latin-1. */
type Kind = { readonly name: string; readonly magic: string; readonly command: string };

function adviceFor({ name, command }: Kind, path: string | undefined): string {
  const reader = command.replace('FILE', () => shown(path ?? 'FILE'));
  const format = /\.csv\b/i.test(path ?? '') ? ' --format csv' : '';
  const advice = `${reader} | plantstore import${format}`;
  return `${shown(path ?? 'standard input')} is ${name}; read it with: ${advice}`;
}
