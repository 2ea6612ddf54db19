import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, statfsSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from './connection.ts';
import { codeOf, failureOf, type Fault } from './errors.ts';

/** Tries on a new file what SQLite requires of the folder of a database. */
export function findFolderFault(folder: string, mayWrite: boolean): Fault | undefined {
  const probe = join(folder, `.plantstore-${randomBytes(6).toString('hex')}`);
  let kind: 'no-shared-memory' | 'no-locks' | undefined;
  let database: Database | undefined;
  try {
    closeSync(openSync(probe, 'ax', 0o600));
    kind = 'no-shared-memory';
    truncateSync(probe, 2 ** 15);
    truncateSync(probe);
    // No other process uses the file.
    kind = 'no-locks';
    database = new Database(probe, { timeout: 0 }, false);
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return undefined;
  } catch (thrown) {
    return kind === undefined ? faultOfCreation(folder, thrown, mayWrite) : { kind };
  } finally {
    database?.close();
    if (kind !== undefined) rmSync(probe, { force: true });
  }
}

/** Returns a fault if the disk has no inode left. Some file systems do not count them. */
export function findInodeFault(folder: string): Fault | undefined {
  const { files, ffree } = statfsSync(folder);
  if (files === 0 || ffree > 0) return undefined;
  const message = `no file can be created in ${folder}: the disk has no inode left; remove files that you do not need`;
  return { kind: 'disk-full', message };
}

function faultOfCreation(folder: string, thrown: unknown, mayWrite: boolean): Fault | undefined {
  const kind = failureOf(thrown);
  // A file that is complete without a WAL file can be read in a folder that cannot be written to.
  if (kind === 'read-only' && !mayWrite) return undefined;
  if (kind === 'disk-full') return findInodeFault(folder) ?? { kind };
  if (kind === 'input-output') return { kind };
  const [reason] = (thrown as Error).message.split(', open ');
  const advice = ['EMFILE', 'ENFILE'].includes(String(codeOf(thrown)))
    ? 'raise the limit of open files (ulimit -n)'
    : 'check the folder and its file system';
  const message = `no file can be created in ${folder}: ${reason}; ${advice}`;
  return { kind: kind === 'read-only' ? kind : 'cannot-open', message };
}
