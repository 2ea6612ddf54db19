import { symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { faultyDisk } from '@plantstore/test-support/faulty-disk';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { runsAll } from '@plantstore/test-support/sample';
import { describe, expect, it } from 'vitest';
import { createOnFailingDisk, createUntilKilled } from '../test/create-on-disk.ts';
import { otherProgram } from '../test/other-program.ts';
import { faultIn } from '../test/surviving-states.ts';
import { Database } from './open/connection.ts';

/** Creates a symbolic link to a file in another folder. */
const linkTo = async (path: string): Promise<string> => {
  const name = join(dirname(dirname(path)), 'link.db');
  await symlink(path, name);
  return name;
};

const connectOther = otherProgram();

/** Reads a file in another program until the test ends, which prevents an exclusive lock. */
const readMeanwhile = async (path: string): Promise<string> => {
  expect(await connectOther(path).run('SELECT 1 FROM plants LIMIT 1')).toHaveLength(1);
  return path;
};

/** Opens a file, and counts the acknowledged plants that are missing or changed. */
const inspect = (path: string, acknowledged: readonly number[]) => {
  const database = new Database(path);
  const [integrity] = Object.values(database.prepare('PRAGMA integrity_check').get() ?? {});
  const rows = database.prepare('SELECT id, name FROM plants').all();
  database.close();
  const names = new Map(rows.map((row) => [Number(row['id']), row['name']]));
  const wrong = acknowledged.filter(
    (id) => names.get(id) !== `plant ${id} ${'x'.repeat(id % 200)}`,
  );
  return { integrity, missing: wrong.length };
};

describe('no acknowledged plant is missing', () => {
  it('no acknowledged plant is missing after each of many kills with SIGKILL during concurrent creates', async () => {
    const folder = await makeFolder();
    const path = join(folder, 'plants.db');
    let count = 0;
    const cycles = runsAll ? 20 : 2;
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      const acknowledged = await createUntilKilled([path], 50 + cycle * 20);
      count += acknowledged.length;
      expect(inspect(path, acknowledged)).toEqual({ integrity: 'ok', missing: 0 });
    }
    console.log(`kill -9: ${cycles} cycles, ${count} plants acknowledged, 0 missing`);
  });

  it('no acknowledged plant is missing after a power cut', async ({ skip }) => {
    const disk = await faultyDisk(skip);
    const acknowledged = await createUntilKilled([disk.path], 500, disk.env);
    await disk.cutPower();
    const { integrity, missing } = inspect(disk.path, acknowledged);
    console.log(`power cut: ${acknowledged.length} plants acknowledged, ${missing} missing`);
    expect({ integrity, missing }).toEqual({ integrity: 'ok', missing: 0 });
  });

  it.for([
    ['through a symbolic link', linkTo] as const,
    ['while a third one reads', readMeanwhile] as const,
  ])(
    'no acknowledged plant is missing after a power cut, also when another process wrote the WAL without a sync, %s',
    async ([, name], { skip }) => {
      const disk = await faultyDisk(skip);
      await createUntilKilled([disk.path], 20, disk.env);
      const written = await createUntilKilled([disk.path, 'NORMAL'], 150, disk.env);
      const acknowledged = await createUntilKilled([await name(disk.path)], 100, disk.env);
      expect(acknowledged.filter((id) => written.includes(id)).length).toBeGreaterThan(50);
      await disk.cutPower();
      expect(inspect(disk.path, acknowledged)).toEqual({ integrity: 'ok', missing: 0 });
    },
  );

  it('no acknowledged plant is missing after a power cut, also when every sync of an earlier process failed, and another program reads', async ({
    skip,
  }) => {
    const disk = await faultyDisk(skip);
    await createOnFailingDisk(disk, { plants: [0, 20], end: 'kill' });
    const failing = createOnFailingDisk(disk, {
      fails: 'wal 3 9999',
      plants: [20, 24],
      end: 'kill',
      attempts: 3,
    });
    await expect(failing).rejects.toThrow('the store did not recover');
    await readMeanwhile(disk.path);
    await createOnFailingDisk(disk, { plants: [0, 60], end: 'kill' });
    await disk.cutPower();
    expect(
      faultIn(
        disk.path,
        Array.from({ length: 60 }, (_, number) => number),
      ),
    ).toBeUndefined();
  });

  it('a power cut loses plants with synchronous=NORMAL, which shows that the test detects lost plants', async ({
    skip,
  }) => {
    const disk = await faultyDisk(skip);
    const acknowledged = await createUntilKilled([disk.path, 'NORMAL'], 500, disk.env);
    await disk.cutPower();
    const { missing } = inspect(disk.path, acknowledged);
    console.log(
      `power cut with synchronous=NORMAL: ${acknowledged.length} acknowledged, ${missing} missing`,
    );
    expect(missing).toBeGreaterThan(0);
  });
});
