import { execFile } from 'node:child_process';
import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type FaultyDisk, faultyDisk } from '@plantstore/test-support/faulty-disk';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { createFolder } from '@plantstore/test-support/power-cut';
import { expect, it } from 'vitest';
import { makeStore, plants } from '../test/store-file.ts';
import { backUpPlants, restorePlants } from './read/back-up-plants.ts';
import { checkPlants } from './read/check-plants.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../test/copy-plants.ts', import.meta.url));

/** Creates a database with 200 plants, outside the faulty disk. */
const makeSource = async (): Promise<string> => {
  const path = join(await makeFolder(), 'source.db');
  makeStore(path, plants(0, 200));
  return path;
};

/** Copies in a process that is killed after so many changes of the disk, and returns its output. */
const copyAndKill = async (
  [command, from, to]: readonly [string, string, string],
  { env }: FaultyDisk,
  changes: number,
): Promise<string | undefined> => {
  const args = [program, command, from, to];
  const all = { ...process.env, ...env, DISK_KILL: String(changes) };
  return run(process.execPath, args, { env: all }).then(
    ({ stdout }) => stdout,
    (error: unknown) => {
      if ((error as { signal?: string }).signal === 'SIGKILL') return undefined;
      throw error;
    },
  );
};

/** Copies in this process. Returns the kind of the error, if any. */
const copyAgain = async (command: string, from: string, to: string): Promise<string> =>
  (command === 'backup' ? backUpPlants : restorePlants)({ from, to }).match(
    () => 'done',
    ({ kind }) => kind,
  );

it.for(['backup', 'restore'])(
  'kill -9 or a power cut after any change of a %s leaves no file of the name or a complete one, and running it again works',
  async (command, { skip }) => {
    const disk = await faultyDisk(skip);
    const from = await makeSource();
    expect(await copyAndKill([command, from, disk.path], disk, 0)).toBe('');
    const copy = await readFile(disk.path);
    const folder = createFolder();
    const operations = await disk.operations();
    const seen = new Set<string>();
    let states = 0;
    let complete = 0;
    for (const operation of operations) {
      folder.apply(operation);
      // After kill -9, everything survives.
      for (const survives of [true, false]) {
        const files = folder.cutPower(() => survives);
        states += 1;
        const found = files.get('plants.db');
        if (found !== undefined) {
          complete += 1;
          expect(found.equals(copy)).toBe(true);
        }
        const names = [...files.keys()].toSorted();
        const others = /^plants\.db(-owner|\.[0-9a-f]{12}\.partial(-journal)?)?$/;
        expect(names.filter((name) => !others.test(name))).toEqual([]);
        // A copy is affected by the names that exist, and not by the content of a temporary file.
        const state = names.join();
        if (seen.has(state)) continue;
        seen.add(state);
        await disk.restore(files);
        const again = await copyAgain(command, from, disk.path);
        expect(again).toBe(found === undefined ? 'done' : 'exists');
        const left = names.filter((name) => name.includes('.partial'));
        expect(await readdir(dirname(disk.path))).toEqual(expect.arrayContaining(left));
        expect(checkPlants(disk.path)._unsafeUnwrap()).toMatchObject({ plants: 200, damage: [] });
      }
    }
    console.log(`${command}: ${states} states of the files, ${seen.size} with other names`);
    expect(complete).toBeGreaterThan(0);
    expect(complete).toBeLessThan(states - 10);
    const atEnd = folder.cutPower(() => false);
    expect(atEnd.get('plants.db')?.equals(copy)).toBe(true);
    // A second name would be a second hard link, with which no repository opens the file.
    expect([...atEnd.keys()].filter((name) => name.endsWith('.partial'))).toEqual([]);

    // Without one kind of sync, the copy is missing or incomplete in the end.
    for (const isFolder of [true, false]) {
      const control = createFolder();
      for (const operation of operations) {
        if (operation.kind !== 'sync' || (operation.inode === 0n) !== isFolder)
          control.apply(operation);
      }
      const lost = control.cutPower(() => false).get('plants.db');
      expect(lost?.equals(copy) ?? false).toBe(false);
    }
  },
);

it('a copy that is being written can be read only by the owner of a private source', async ({
  skip,
}) => {
  const disk = await faultyDisk(skip);
  const from = await makeSource();
  await chmod(from, 0o600);
  expect(await copyAndKill(['backup', from, disk.path], disk, 1)).toBeUndefined();
  const [partial = ''] = await readdir(dirname(disk.path));
  expect(partial).toMatch(/\.partial$/);
  expect((await stat(join(dirname(disk.path), partial))).mode & 0o777).toBe(0o600);
});
