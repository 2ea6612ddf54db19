import { execFile } from 'node:child_process';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type FaultyDisk, faultyDisk } from '@plantstore/test-support/faulty-disk';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { createFolder } from '@plantstore/test-support/power-cut';
import { expect, it } from 'vitest';
import { makeStore, plants } from '../test/store-file.ts';
import { backUpPlants } from './read/back-up-plants.ts';
import { checkPlants } from './read/check-plants.ts';

/** Creates a database with 200 plants, outside the faulty disk. */
const makeSource = async (): Promise<string> => {
  const path = join(await makeFolder(), 'source.db');
  makeStore(path, plants(0, 200));
  await chmod(path, 0o600);
  return path;
};

/** Backs up in a process, which is killed after so many changes of the disk unless they are 0. */
const backUp = async (from: string, disk: Pick<FaultyDisk, 'path' | 'env'>, changes = 0) => {
  const program = fileURLToPath(new URL('../test/back-up.ts', import.meta.url));
  const all = { ...process.env, ...disk.env, DISK_KILL: String(changes) };
  return promisify(execFile)(process.execPath, [program, from, disk.path], { env: all });
};

it('kill -9 or a power cut after any change of a backup leaves no file of the name or a complete one, and running it again works', async ({
  skip,
}) => {
  const disk = await faultyDisk(skip);
  const from = await makeSource();
  await backUp(from, disk);
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
      const others = /^plants\.db(\.[0-9a-f]{12}\.partial(-journal)?)?$/;
      expect(names.filter((name) => !others.test(name))).toEqual([]);
      // A copy is affected by the names that exist, and not by the content of a temporary file.
      if (seen.has(names.join())) continue;
      seen.add(names.join());
      await disk.restore(files);
      const again = await backUpPlants({ from, to: disk.path });
      const kind = again.isOk() ? 'done' : again.error.kind;
      expect(kind).toBe(found === undefined ? 'done' : 'exists');
      expect(checkPlants(disk.path)._unsafeUnwrap()).toMatchObject({ plants: 200, damage: [] });
    }
  }
  console.log(`backup: ${states} states of the files, ${seen.size} with other names`);
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

  // Like the source, only its owner can read what is being written.
  await disk.restore(new Map());
  await expect(backUp(from, disk, 1)).rejects.toMatchObject({ signal: 'SIGKILL' });
  const [partial = ''] = await readdir(dirname(disk.path));
  expect((await stat(join(dirname(disk.path), partial))).mode & 0o777).toBe(0o600);
});

it('a backup to a file system without hard links fails, and leaves no file', async ({ skip }) => {
  const { path, env } = await faultyDisk(skip);
  const faults = join(await makeFolder(), 'faults');
  await writeFile(faults, `link ${constants.errno.EPERM} * 1000 0`);
  const backup = backUp(await makeSource(), { path, env: { ...env, DISK_FAULTS: faults } });
  await expect(backup).rejects.toMatchObject({
    stderr: expect.stringContaining(`${path} cannot be opened: EPERM`) as unknown,
  });
  expect(await readdir(dirname(path))).toEqual([]);
});
