import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { exportPlants } from './export-plants.ts';
import { importPlants } from './import-plants.ts';

/** Starts an import in a terminal. */
const startImport = async (lines: string) => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const file = join(folder, 'plants.ndjson');
  await writeFile(file, lines);
  const path = join(folder, 'plants.db');
  const stderr = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true });
  const stdin = new PassThrough();
  stdin.write(lines);
  const run = async (from: 'file' | 'standard input') => {
    const { status } = await importPlants.run({
      file: from === 'file' ? file : undefined,
      database: { kind: 'sqlite', path },
      format: undefined,
      strict: false,
      stdin: () => stdin,
      stdout: new PassThrough(),
      stderr,
    });
    return { status, progress: String(stderr.read() ?? '') };
  };
  return { path, stdin, run };
};

const plant = '{"id":1,"name":"Monstera"}\n';

it('the progress line of an import has the percentage of a file that is read, and is cleared', async () => {
  const { run } = await startImport(plant);
  const { status, progress } = await run('file');
  expect(status).toBe(0);
  expect(progress).toContain('0 plants in the database, 0 refused 100 %');
  expect(progress.endsWith('\r\u001B[K')).toBe(true);
});

it('an export shows a progress line on a terminal, and clears it', async () => {
  const { path, run } = await startImport(`{"id":1,"name":"${'x'.repeat(2 ** 20)}"}\n`);
  await run('file');
  const stderr = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true });
  const { status } = await exportPlants.run({
    file: undefined,
    database: { kind: 'sqlite', path },
    format: undefined,
    strict: false,
    stdin: () => new PassThrough(),
    stdout: new PassThrough().resume(),
    stderr,
  });
  expect(status).toBe(0);
  const line = '1 plant exported';
  expect(stderr.read()).toBe(`\r\u001B[K${line}\r\u001B[K${line}\n`);
});

it('the progress line of an import from standard input has no percentage', async () => {
  const { run, stdin } = await startImport(plant);
  stdin.end();
  const { status, progress } = await run('standard input');
  expect(status).toBe(0);
  expect(progress).toContain('0 plants in the database, 0 refused ');
  expect(progress).not.toContain('%');
});

it('an import creates long plants before it has read many, so that they take little memory', async () => {
  const name = 'x'.repeat(2 ** 21);
  const { path, run, stdin } = await startImport(
    [1, 2, 3].map((id) => `{"id":${id},"name":"${name}"}\n`).join(''),
  );
  const imported = run('standard input');
  const countPlants = () => {
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(path, { readOnly: true });
      return database.prepare('SELECT count(*) AS plants FROM plants').get()?.['plants'];
    } catch {
      // The import has not created the table yet.
      return 0;
    } finally {
      database?.close();
    }
  };
  await expect.poll(countPlants).toBeGreaterThanOrEqual(2);
  stdin.end();
  expect((await imported).status).toBe(0);
});

it('an import throws an exception that is not a failed system call, instead of blaming the file for it', async () => {
  const { run, stdin } = await startImport(plant);
  const thrown = new TypeError('a bug');
  stdin.destroy(thrown);
  await expect(run('standard input')).rejects.toBe(thrown);
});
