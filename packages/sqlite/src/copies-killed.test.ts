import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type FaultyDisk, makeFaultyDisk } from '@plantstore/test-support/faulty-disk';
import { createFolder } from '@plantstore/test-support/power-cut';
import { expect, it, onTestFinished } from 'vitest';
import { checkPlants } from './check-plants.ts';
import { openSqliteRepository } from './open-sqlite-repository.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../test/copy-plants.ts', import.meta.url));
const noCompiler = 'this machine has no C compiler to build the faulty disk';

/** Creates a database with 200 plants, outside the faulty disk. */
const makeSource = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const path = join(folder, 'source.db');
  const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  for (let id = 0n; id < 200n; id += 1n) await repository.create({ id, name: `plant ${id}` });
  await repository.close();
  return path;
};

/** Copies in a process that kills itself after so many changes of the disk. Returns its output, or `undefined` if it was killed. */
const copyAndKill = async (
  [command, from, to]: readonly [string, string, string],
  { env }: FaultyDisk,
  changes: number,
): Promise<string | undefined> => {
  const args = ['--conditions=@plantstore/source', program, command, from, to];
  const all = { ...process.env, ...env, DISK_KILL: String(changes) };
  return run(process.execPath, args, { env: all }).then(
    ({ stdout }) => stdout,
    (error: unknown) => {
      if ((error as { signal?: string }).signal === 'SIGKILL') return undefined;
      throw error;
    },
  );
};

it.for(['backup', 'restore'])(
  'kill -9 after any change of a %s leaves no file of the name or a complete one, and running it again works',
  { timeout: 240_000 },
  async (command, { skip }) => {
    const disk = await makeFaultyDisk();
    if (disk === undefined) return skip(noCompiler);
    const from = await makeSource();
    const folder = dirname(disk.path);
    let complete = 0;
    let changes = 1;
    for (;;) {
      const output = await copyAndKill([command, from, disk.path], disk, changes);
      if (output !== undefined) break;
      const names = await readdir(folder);
      const others = /^plants\.db(-owner|\.[0-9a-f]{12}\.partial(-journal)?)?$/;
      expect(names.filter((name) => !others.test(name))).toEqual([]);
      const exists = names.includes('plants.db');
      if (exists) complete += 1;
      const again = await copyAndKill([command, from, disk.path], disk, 0);
      expect(again).toEqual(exists ? expect.stringContaining('already exists') : '');
      const left = names.filter((name) => name.includes('.partial'));
      expect(await readdir(folder)).toEqual(expect.arrayContaining(left));
      expect(checkPlants(disk.path)._unsafeUnwrap()).toMatchObject({ plants: 200, damage: [] });
      await disk.restore(new Map());
      changes += 1;
    }
    // At least a change for each page, and those after the file has its name.
    expect(changes).toBeGreaterThan(8);
    expect(complete).toBeGreaterThan(0);
    expect(complete).toBeLessThan(changes - 5);
  },
);

it.for(['backup', 'restore'])(
  'a power cut after any change of a %s leaves no file of the name or a complete one, and it is there in the end',
  { timeout: 60_000 },
  async (command, { skip }) => {
    const disk = await makeFaultyDisk();
    if (disk === undefined) return skip(noCompiler);
    const from = await makeSource();
    expect(await copyAndKill([command, from, disk.path], disk, 0)).toBe('');
    const copy = await readFile(disk.path);
    const folder = createFolder();
    let states = 0;
    for (const operation of await disk.operations()) {
      folder.apply(operation);
      for (const survives of [true, false]) {
        const found = folder.cutPower(() => survives).get('plants.db');
        if (found !== undefined) expect(found.equals(copy)).toBe(true);
        states += 1;
      }
    }
    expect(states).toBeGreaterThan(16);
    expect(
      folder
        .cutPower(() => false)
        .get('plants.db')
        ?.equals(copy),
    ).toBe(true);
  },
);
