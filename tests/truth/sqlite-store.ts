import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { buildLibrary } from '@plantstore/test-support/faulty-disk';
import type { Plan } from './plan.ts';
import { commonReasons, type Disk, rowsOf, type Store } from './store.ts';

export type SqliteStore = Store & {
  readonly folder: string;
  readonly path: string;
  readonly isMounted: boolean;
  /** Makes a line for disk.c apply until the returned function is called. */
  readonly fail: (line: string) => () => Promise<void>;
};

/** Creates the folder of a SQLite database, on an ext4 of its own if it is mounted. */
export async function createSqliteStore({ isMounted }: Plan, root: string): Promise<SqliteStore> {
  const library = await buildLibrary();
  const folder = join(root, 'data');
  const path = join(folder, 'plants.db');
  const faultsFile = join(root, 'faults');
  const faults = new Set<string>();
  const applyFaults = () => writeFileSync(faultsFile, [...faults].join('\n'));
  mkdirSync(folder);
  if (isMounted) {
    const image = join(root, 'image');
    execFileSync('truncate', ['-s', '24M', image]);
    execFileSync('mkfs.ext4', ['-q', '-m', '0', '-O', '^has_journal', image]);
    execFileSync('mount', ['-o', 'loop', image, folder]);
  }
  return {
    database: `sqlite:${path}`,
    env: library ? { LD_PRELOAD: library, DISK_FOLDER: folder, DISK_FAULTS: faultsFile } : {},
    folder,
    path,
    isMounted,
    fail(line) {
      faults.add(line);
      applyFaults();
      return async () => {
        faults.delete(line);
        applyFaults();
      };
    },
    read: async () => readSqlite(path),
    walSize: () => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    reasons: [
      ...commonReasons,
      [/was removed, renamed|is missing, empty|does not exist|ENOENT/, 'moved replaced'],
      [/was overwritten/, 'moved replaced'],
      [/is full, has no inode/, 'disk'],
      [/reports an error|locked, shared or synced/, 'disk'],
      [/is in use/, 'lock command disk'],
      [/cannot be written to|cannot be (opened|examined)|EACCES/, 'mode disk limits moved'],
      [/damaged/, 'replaced disk'],
    ],
    dispose: async () => void (isMounted && execFileSync('umount', ['--lazy', folder])),
  };
}

/** Reads a SQLite file and the WAL file beside it, from a copy of both. */
export function readSqlite(path: string): Disk {
  const folder = mkdtempSync(join(tmpdir(), 'plantstore-truth-'));
  const copy = join(folder, 'copy.db');
  let database: DatabaseSync | undefined;
  try {
    copyFileSync(path, copy);
    if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`);
    database = new DatabaseSync(copy);
    const check = database.prepare('PRAGMA integrity_check').get()?.['integrity_check'];
    const select = database.prepare('SELECT id, name, tag FROM plants');
    select.setReadBigInts(true);
    const all = select.all();
    const rows = rowsOf(all);
    if (check === 'ok' && rows.size === all.length) return { rows };
    return { rows, damage: `${all.length} rows, ${rows.size} ids: ${String(check)}` };
  } catch (thrown) {
    return { rows: new Map(), damage: String(thrown) };
  } finally {
    database?.close();
    rmSync(folder, { recursive: true });
  }
}
