import { type BigIntStats, existsSync, statSync } from 'node:fs';
import { err, ok, type Result } from 'neverthrow';
import { Database } from '../open/connection.ts';
import { failureOf, type Fault, openError, type OpenSqliteError } from '../open/errors.ts';
import * as faults from '../open/faults.ts';
import { absolutePath, attempt, identify, resolveLinks } from '../open/path.ts';
import { isInWalMode, keptDescriptorOf, walHeaderSize } from '../open/wal.ts';

/** A database file that is read, whether or not a repository has it open. */
export class Reader extends Database {
  readonly path: string;
  /** The path with symbolic links resolved. */
  readonly file: string;
  #state: ReturnType<typeof stateOf>;

  /** Opens a file whose plants can be read, or with `own`, one that a start would also accept. */
  static open(path: string, use: 'read' | 'own' = 'read'): Result<Reader, OpenSqliteError> {
    const absolute = absolutePath(path);
    let reader: Reader | undefined;
    try {
      const file = resolveLinks(absolute);
      const unopened = findUnopened(file);
      if (unopened !== undefined) return err(openError(absolute, unopened));
      reader = new Reader(absolute, file);
      const fault = faults.findContentFault(reader, file, use);
      if (fault === undefined) return ok(reader);
      reader.close();
      return err(openError(absolute, fault));
    } catch (thrown) {
      const error = reader?.explain(thrown) ?? faults.explain(absolute, thrown);
      reader?.close();
      return err(error);
    }
  }

  /** @param path the path that errors name */
  constructor(path: string, file: string) {
    // VACUUM INTO repeats the statements of other programs, which may have text in double quotes.
    super(file, { readOnly: true, timeout, enableDoubleQuotedStringLiterals: true });
    this.path = path;
    this.file = file;
    this.#state = stateOf(file);
  }

  /**
   * Returns the output of `integrity_check`, at most 100 lines; none for an intact file. Throws the
   * exceptions of node:sqlite. SQLite calls a page that the disk cannot read damaged (vdbe.c): what
   * a second connection does not find was an I/O error.
   */
  findDamage(): readonly string[] {
    const found = integrityLines(this);
    if (found.length === 0) return found;
    const second = new Reader(this.path, this.file);
    try {
      const again = integrityLines(second);
      const unread = [...found, ...again].find(isUnread);
      if (unread === undefined && again.length > 0) return again;
      throw inputOutputError(unread ?? found);
    } finally {
      second.close();
    }
  }

  /** Returns the error for an exception, and `damaged` only if `findDamage` confirms it. */
  explain(thrown: unknown): OpenSqliteError {
    const overwritten = this.findOverwritten();
    if (overwritten !== undefined) return overwritten;
    let cause = thrown;
    try {
      if (failureOf(thrown) === 'damaged' && this.findDamage().length === 0)
        cause = inputOutputError(thrown);
    } catch (unread) {
      if (failureOf(unread) === 'input-output') cause = inputOutputError(thrown);
    }
    return faults.explain(this.path, cause);
  }

  /**
   * Returns an error if the file was overwritten since it was opened: it has left WAL mode, or was
   * changed while its WAL file had nothing that SQLite could have written to it.
   */
  findOverwritten(): OpenSqliteError | undefined {
    const before = this.#state;
    const found = stateOf(this.file);
    // A file that has lost its path is still open, and complete.
    if (found?.inode !== before?.inode || found === undefined) return undefined;
    this.#state = found;
    const isSame = found.isLive
      ? isInWalMode(keptDescriptorOf(this.file))
      : found.wal !== before?.wal || found.database === before.database;
    return isSame ? undefined : openError(this.path, { kind: 'overwritten-while-read' });
  }
}

/** Time that a read waits for the WAL recovery of another program, in milliseconds. */
const timeout = 2_000;

/**
 * Returns the last changes of a file and of its WAL file, and whether that has plants; `undefined`
 * without a file, or when it is inaccessible.
 */
function stateOf(file: string) {
  const find = (path: string) =>
    attempt(() => statSync(path, { bigint: true, throwIfNoEntry: false }));
  const [database, wal] = [find(file), find(`${file}-wal`)];
  if (database === undefined) return undefined;
  const lastChange = (found: BigIntStats | undefined) => `${found?.size} ${found?.mtimeNs}`;
  const isLive = (wal?.size ?? 0n) > walHeaderSize;
  const inode = identify(database);
  return { inode, database: lastChange(database), wal: lastChange(wal), isLive };
}

/** Returns why SQLite must not open a file: it may apply the WAL file of another one. */
function findUnopened(file: string): Fault | undefined {
  if (!existsSync(file)) return { kind: 'missing' };
  const fault = faults.findTypeFault(file);
  if (fault !== undefined) return fault;
  const otherPath = faults.findOtherPath(file);
  // A backup, which is not in WAL mode, is complete under each path.
  if (otherPath !== undefined && isInWalMode(keptDescriptorOf(file))) return otherPath;
  if (stateOf(file)?.isLive !== true) return undefined;
  return faults.findWalOfAnotherFile(file, keptDescriptorOf(file));
}

/** Runs `integrity_check`, and returns its lines up to the first error; none for an intact file. */
function integrityLines(database: Database): string[] {
  const lines: string[] = [];
  try {
    for (const row of database.prepare('PRAGMA integrity_check').iterate())
      lines.push(...String(row['integrity_check']).split('\n'));
  } catch (thrown) {
    if (!(thrown instanceof Error) || failureOf(thrown) !== 'damaged') throw thrown;
    lines.push(thrown.message);
  }
  return lines.filter((line) => line !== 'ok');
}

/** Whether a line of `integrity_check` reports an I/O error (btree.c), and not damage. */
function isUnread(line: string): boolean {
  const [text, code] =
    /unable to get the page\. error code=(\d+)|failed to get page/.exec(line) ?? [];
  // The low byte of an extended result code is the primary one.
  return text !== undefined && (code === undefined || (Number(code) & 0xff) === 10);
}

function inputOutputError(cause: unknown): Error {
  return Object.assign(new Error('disk I/O error', { cause }), { errcode: 10 });
}
