import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { buildLibrary } from '@plantstore/test-support/faulty-disk';
import { type PostgresServer, startPostgres } from '@plantstore/test-support/postgres-server';
import { connectSql } from '@plantstore/test-support/sql-client';
import { type Proxy, startProxy } from './proxy.ts';

/** The plants of a disk: the text of each name and tag by id. */
export type Rows = ReadonlyMap<string, string>;

/** What another program reads, and what it reports as damage. */
export type Disk = { readonly rows: Rows; readonly damage?: string };

/** What the plants are stored in. */
export type Store = {
  readonly database: string;
  /** Environment variables of the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Reads the plants without code of this project. */
  readonly read: () => Promise<Disk>;
  /** Ends every fault. */
  readonly heal: () => Promise<void>;
  readonly dispose: () => Promise<void>;
};

export type SqliteStore = Store & {
  readonly folder: string;
  readonly path: string;
  readonly isMounted: boolean;
  /** Lines for disk.c. */
  readonly faults: Set<string>;
  /** Makes the lines of `faults` apply. */
  readonly applyFaults: () => void;
};

export type PostgresStore = Store & {
  readonly server: PostgresServer;
  readonly proxy: Proxy;
  readonly role: string;
  /** Runs a statement as the superuser. Resolves with its error message, if it fails. */
  readonly sql: (statement: string) => Promise<string | undefined>;
  /** Ends every session of the role. */
  readonly endSessions: () => Promise<void>;
  /** Runs a statement in a transaction. What it returns ends the transaction. */
  readonly hold: (statement: string, end: string) => Promise<() => Promise<void>>;
};

/** The text by which plants are compared. */
export const textOf = (name: string, tag?: string | null): string =>
  JSON.stringify([name, tag ?? null]);

type Row = { readonly id: string | bigint; readonly name: string; readonly tag: string | null };

const rowsOf = (rows: readonly Row[]): Rows =>
  new Map(rows.map(({ id, name, tag }) => [String(id), textOf(name, tag)]));

/** Reads a SQLite file and the WAL file beside it, from a copy of both. */
export function readSqlite(path: string, wal = `${path}-wal`): Disk {
  const folder = mkdtempSync('/tmp/plantstore-truth-');
  const copy = join(folder, 'copy.db');
  let database: DatabaseSync | undefined;
  try {
    copyFileSync(path, copy);
    if (existsSync(wal)) copyFileSync(wal, `${copy}-wal`);
    database = new DatabaseSync(copy);
    const [check] = database.prepare('PRAGMA integrity_check').all();
    const select = database.prepare('SELECT id, name, tag FROM plants');
    select.setReadBigInts(true);
    const all = select.all() as unknown as readonly Row[];
    const rows = rowsOf(all);
    const damage = check?.['integrity_check'];
    if (damage === 'ok' && rows.size === all.length) return { rows };
    return { rows, damage: `${all.length} rows, ${rows.size} ids: ${String(damage)}` };
  } catch (thrown) {
    return { rows: new Map(), damage: String(thrown) };
  } finally {
    database?.close();
    rmSync(folder, { recursive: true });
  }
}

/** Creates the folder of a SQLite database, on an ext4 of its own if it is mounted. */
export async function createSqliteStore(root: string, isMounted: boolean): Promise<SqliteStore> {
  const library = await buildLibrary();
  const folder = join(root, 'data');
  const path = join(folder, 'plants.db');
  const rules = join(root, 'faults');
  const faults = new Set<string>();
  const applyFaults = () => writeFileSync(rules, [...faults].join('\n'));
  mkdirSync(folder);
  if (isMounted) {
    const image = join(root, 'image');
    execFileSync('truncate', ['-s', '24M', image]);
    execFileSync('mkfs.ext4', ['-q', '-m', '0', '-O', '^has_journal', image]);
    execFileSync('mount', ['-o', 'loop', image, folder]);
  }
  return {
    database: `sqlite:${path}`,
    env: library ? { LD_PRELOAD: library, DISK_FOLDER: folder, DISK_FAULTS: rules } : {},
    folder,
    path,
    isMounted,
    faults,
    applyFaults,
    read: async () => readSqlite(path),
    heal: async () => rmSync(rules, { force: true }),
    dispose: async () => void (isMounted && execFileSync('umount', ['--lazy', folder])),
  };
}

/** Settings of a server with few connections, whose commits are fast. */
const settings = 'max_connections = 25\nfsync = off\nwal_writer_delay = 10s\nshared_buffers = 16MB';

let databases = 0;

/** Starts a server. Each run has a database and a role of its own on it. */
export async function startPostgresStores() {
  const server = await startPostgres(settings);
  const read = async (url: string, statement: string): Promise<unknown[]> => {
    const client = await connectSql(url);
    try {
      return (await client.query(statement)).rows as unknown[];
    } finally {
      await client.end().catch(() => {});
    }
  };
  const create = async (isOwned: boolean): Promise<PostgresStore> => {
    const role = `truth_${process.pid}_${(databases += 1)}`;
    // The statements of the operator also succeed while the database is read-only or without its standby.
    const options = 'default_transaction_read_only=off -c synchronous_commit=local';
    const url = `${server.url(role)}?options=${encodeURIComponent(`-c ${options}`)}`;
    const other = server.url();
    const sql = async (statement: string, at = url) =>
      read(at, statement).then(
        () => undefined,
        (thrown: unknown) => String(thrown),
      );
    await read(other, `CREATE ROLE ${role} LOGIN PASSWORD 'truth'`);
    await read(other, `CREATE DATABASE ${role} ${isOwned ? `OWNER ${role}` : ''}`);
    if (!isOwned) {
      await read(
        url,
        'CREATE TABLE public.plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)',
      );
      await read(url, `GRANT SELECT, INSERT ON public.plants TO ${role}`);
    }
    const proxy = await startProxy(server.port);
    return {
      database: `postgres://${role}:truth@127.0.0.1:${proxy.port}/${role}?sslmode=disable`,
      env: {},
      server,
      proxy,
      role,
      sql,
      async endSessions() {
        const sessions = `FROM pg_stat_activity WHERE usename = '${role}'`;
        await sql(`SELECT pg_terminate_backend(pid) ${sessions}`, other);
      },
      async hold(statement, end) {
        const client = await connectSql(url);
        await client.query(`BEGIN; ${statement}`).catch(() => {});
        return async () => {
          await client.query(end).catch(() => {});
          await client.end().catch(() => {});
        };
      },
      read: async () =>
        read(url, 'SELECT id::text, name, tag FROM public.plants').then(
          (rows) => ({ rows: rowsOf(rows as Row[]) }),
          (thrown: unknown) => ({ rows: new Map(), damage: String(thrown) }),
        ),
      heal: async () => proxy.setMode('pass'),
      dispose: async () => {
        proxy.close();
        await sql(`DROP DATABASE ${role} WITH (FORCE)`, other);
        await sql(`DROP ROLE ${role}`, other);
      },
    };
  };
  return { create, dispose: server.dispose };
}
