import { symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type FaultyDisk, faultyDisk } from '@plantstore/test-support/faulty-disk';
import { describe, expect, it } from 'vitest';
import { createOnFailingDisk, runStepsOnDisk } from '../test/create-on-disk.ts';
import { connectOther } from '../test/other-program.ts';
import { plantOf } from '../test/plant-of.ts';
import { faultIn } from '../test/surviving-states.ts';

const numbers = (end: number) => Array.from({ length: end }, (_, number) => number);

/** Creates plants in a process that is killed when each of them is acknowledged. */
const create = async (disk: FaultyDisk, end: number) =>
  createOnFailingDisk(disk, { plants: [0, end], end: 'kill', clients: 16 });

/** Creates a store, and writes plants to its WAL file in a process that syncs none of them. */
const writeWithoutSync = async (disk: FaultyDisk, end: number) => {
  await createOnFailingDisk(disk, { plants: [0, 20], end: 'kill' });
  const inserts = numbers(end).map((number) => {
    const { id, name } = plantOf(number);
    return `INSERT INTO plants (id, name) VALUES (${id}, '${name}') ON CONFLICT DO NOTHING`;
  });
  // A checkpoint would sync every plant.
  const settings = 'PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0';
  await runStepsOnDisk(disk, [settings, ...inserts]);
};

/** Makes every sync of the WAL file fail after the first plants. */
const failToSync = async (disk: FaultyDisk): Promise<void> => {
  await create(disk, 20);
  const last = { plants: [20, 24], end: 'kill', attempts: 3 } as const;
  const creating = createOnFailingDisk(disk, { fails: 'wal 3 9999', ...last });
  await expect(creating).rejects.toThrow('failed');
};

/** Reads a file in another program until the test ends, which prevents an exclusive lock. */
const readMeanwhile = async ({ path }: FaultyDisk): Promise<string> => {
  expect(connectOther(path).run('SELECT 1 FROM plants LIMIT 1')).toHaveLength(1);
  return path;
};

/** Creates a symbolic link to a file in another folder. */
const linkTo = async ({ path }: FaultyDisk): Promise<string> => {
  const name = join(dirname(dirname(path)), 'link.db');
  await symlink(path, name);
  return name;
};

describe('no acknowledged plant is missing', () => {
  it('no acknowledged plant is missing after a power cut', async ({ skip }) => {
    const disk = await faultyDisk(skip);
    await create(disk, 500);
    await disk.cutPower();
    expect(faultIn(disk.path, numbers(500))).toBeUndefined();
  });

  it.for([
    ['unsynced writes of another process, through a symbolic link', writeWithoutSync, linkTo],
    ['unsynced writes of another process, while a third reads', writeWithoutSync, readMeanwhile],
    ['failed syncs of another process, while a third reads', failToSync, readMeanwhile],
  ] as const)(
    'no acknowledged plant is missing after a power cut, also after %s',
    async ([, write, nameFor], { skip }) => {
      const disk = await faultyDisk(skip);
      await write(disk, 150);
      await create({ ...disk, path: await nameFor(disk) }, 100);
      await disk.cutPower();
      expect(faultIn(disk.path, numbers(100))).toBeUndefined();
    },
  );

  it('a power cut loses plants with synchronous=NORMAL, which shows that the test detects lost plants', async ({
    skip,
  }) => {
    const disk = await faultyDisk(skip);
    await writeWithoutSync(disk, 150);
    await disk.cutPower();
    expect(faultIn(disk.path, numbers(150))?.missing).toBeGreaterThan(0);
  });
});
