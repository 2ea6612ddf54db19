import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startPostgres } from '@plantstore/test-support/postgres-server';
import { connectSql } from '@plantstore/test-support/sql-client';
import { bin } from './contenders.ts';
import { withFolder } from './folder.ts';
import type { Part, Row } from './results.ts';
import { type Figures, runRounds } from './rounds.ts';

/** Compares the commands of the program with `sqlite3` and `psql`, which must be installed. */
export async function compareCommands(plants: number, rounds: number): Promise<Part> {
  return withFolder(async (folder) => {
    const files = await writeFiles(folder, plants);
    const sqlite = await compareSqlite(folder, files, rounds);
    const postgres = await comparePostgres(files, rounds);
    return { rounds, baseline: 'sqlite3 or psql', rows: [...sqlite, ...postgres] };
  });
}

const run = promisify(execFile);

type Files = { readonly csv: string; readonly ndjson: string };

async function writeFiles(folder: string, plants: number): Promise<Files> {
  const files = { csv: join(folder, 'plants.csv'), ndjson: join(folder, 'plants.ndjson') };
  const all = Array.from({ length: plants }, (_, at) => ({
    id: at + 1,
    name: `Monstera ${at + 1}`,
    ...(at % 3 > 0 && { tag: 'climber' }),
  }));
  const records = all.map(({ id, name, tag = '' }) => `${id},${name},${tag}\r\n`);
  await writeFile(files.csv, `id,name,tag\r\n${records.join('')}`);
  await writeFile(files.ndjson, all.map((plant) => `${JSON.stringify(plant)}\n`).join(''));
  return files;
}

const columns = (id: string) => `(id ${id} PRIMARY KEY, name TEXT NOT NULL, tag TEXT)`;
const select = 'SELECT id, name, tag FROM plants ORDER BY id';

async function compareSqlite(
  folder: string,
  files: Files,
  rounds: number,
): Promise<readonly Row[]> {
  const path = join(folder, 'plants.db');
  const made = join(folder, 'made.db');
  const database = ['--database', `sqlite:${path}`];
  await run(process.execPath, [bin, 'import', files.csv, ...database]);
  const prepare = async () => {
    for (const suffix of ['', '-wal', '-shm']) await rm(made + suffix, { force: true });
  };
  const comparisons: readonly Comparison[] = [
    {
      section: '`.import --csv`, SQLite',
      prepare,
      floor: [
        'sqlite3',
        made,
        `CREATE TABLE plants ${columns('INTEGER')} STRICT`,
        `.import --csv --skip 1 ${files.csv} plants`,
      ],
      ours: importsOf(files, `sqlite:${made}`),
    },
    {
      section: '`SELECT` as CSV, SQLite',
      floor: ['sqlite3', '-csv', path, select],
      ours: exportsOf(`sqlite:${path}`),
    },
    {
      section: '`VACUUM INTO`, SQLite',
      prepare,
      floor: ['sqlite3', path, `VACUUM INTO '${made}'`],
      ours: { backup: ['backup', made, ...database] },
    },
    {
      section: '`integrity_check`, SQLite',
      floor: ['sqlite3', path, 'PRAGMA integrity_check'],
      ours: { check: ['check', ...database] },
    },
  ];
  const rows: Row[] = [];
  for (const comparison of comparisons) rows.push(...(await compare(comparison, rounds)));
  return rows;
}

async function comparePostgres(files: Files, rounds: number): Promise<readonly Row[]> {
  const postgres = await startPostgres('', tmpdir());
  const client = await connectSql(postgres.url());
  try {
    const psql = ['psql', '--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', postgres.url()];
    const createTable = ['--command', `CREATE TABLE plants ${columns('bigint')}`];
    const imports = await compare(
      {
        section: '`COPY FROM`, PostgreSQL',
        prepare: async () => void (await client.query('DROP TABLE IF EXISTS plants')),
        floor: [...psql, ...createTable, '--command', `\\copy plants FROM ${files.csv} CSV HEADER`],
        ours: importsOf(files, postgres.url()),
      },
      rounds,
    );
    const exports = await compare(
      {
        section: '`COPY TO`, PostgreSQL',
        floor: [...psql, '--command', `\\copy (${select}) TO STDOUT CSV`],
        ours: exportsOf(postgres.url()),
      },
      rounds,
    );
    return [...imports, ...exports];
  } finally {
    await client.end();
    await postgres.dispose();
  }
}

function importsOf({ csv, ndjson }: Files, database: string): Comparison['ours'] {
  return {
    'import, CSV': ['import', csv, '--database', database],
    'import, NDJSON': ['import', ndjson, '--database', database],
  };
}

function exportsOf(database: string): Comparison['ours'] {
  return {
    'export, CSV': ['export', '--format', 'csv', '--database', database],
    'export, NDJSON': ['export', '--database', database],
  };
}

/** A program of the database, and the commands that do the same. */
type Comparison = {
  readonly section: string;
  readonly floor: readonly string[];
  readonly ours: Readonly<Record<string, readonly string[]>>;
  /** Called before each measurement. */
  readonly prepare?: () => Promise<void>;
};

async function compare(
  { section, floor, ours, prepare }: Comparison,
  rounds: number,
): Promise<readonly Row[]> {
  const contender = (name: string, command: readonly string[]) => ({
    name,
    section,
    measure: async () => {
      await prepare?.();
      return measureProgram(command);
    },
  });
  const contenders = Object.entries(ours).map(([name, args]) =>
    contender(`plantstore-server ${name}`, [process.execPath, bin, ...args]),
  );
  return runRounds(contender(floor[0] ?? '', floor), contenders, { rounds });
}

/** Runs a program, and measures its time and its CPU time with all threads. */
async function measureProgram(command: readonly string[]): Promise<Figures> {
  const script = 'TIMEFORMAT="%3R %3U %3S"; time "$@" > /dev/null';
  const { stderr } = await run('bash', ['--norc', '-c', script, 'bash', ...command]);
  const lastLine = stderr.trim().split('\n').at(-1) ?? '';
  const [seconds = Number.NaN, user = Number.NaN, system = Number.NaN] = lastLine
    .split(' ')
    .map(Number);
  return { timeMs: seconds * 1_000, cpuMs: (user + system) * 1_000 };
}
