import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFaultyDisk } from '@plantstore/test-support/faulty-disk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createUntilKilled } from '../test/create-on-disk.ts';
import { Database } from './node-sqlite.ts';

const noCompiler = 'this machine has no C compiler to make a faulty disk with';

/** A link to a file from another folder. */
const linkTo = async (path: string): Promise<string> => {
  const name = join(dirname(dirname(path)), 'link.db');
  await symlink(path, name);
  return name;
};

/** Opens what is left of a file, and counts which of the plants are missing or changed. */
const inspect = (path: string, told: readonly number[]) => {
  const database = new Database(path);
  const [integrity] = Object.values(database.prepare('PRAGMA integrity_check').get() ?? {});
  const rows = database.prepare('SELECT id, name FROM plants').all();
  database.close();
  const names = new Map(rows.map((row) => [Number(row['id']), row['name']]));
  const wrong = told.filter((id) => names.get(id) !== `plant ${id} ${'x'.repeat(id % 200)}`);
  return { integrity, missing: wrong.length };
};

describe('every plant that was answered is there', { timeout: 120_000 }, () => {
  it('after each of 20 times kill -9 in the middle of a crowd', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
    onTestFinished(async () => rm(folder, { recursive: true }));
    const path = join(folder, 'plants.db');
    let answered = 0;
    for (let cycle = 0; cycle < 20; cycle += 1) {
      const told = await createUntilKilled([path], 50 + cycle * 20);
      answered += told.length;
      expect(inspect(path, told)).toEqual({ integrity: 'ok', missing: 0 });
    }
    console.log(`kill -9: 20 cycles, ${answered} plants answered, 0 missing`);
  });

  it('after a power cut', async ({ skip }) => {
    const disk = await makeFaultyDisk();
    if (disk === undefined) return skip(noCompiler);
    const told = await createUntilKilled([disk.path], 500, disk.env);
    await disk.cutPower();
    const { integrity, missing } = inspect(disk.path, told);
    console.log(`power cut: ${told.length} plants answered, ${missing} missing`);
    expect({ integrity, missing }).toEqual({ integrity: 'ok', missing: 0 });
  });

  it.for([['', async (path: string) => path] as const, [', behind a link', linkTo] as const])(
    'after a power cut, also one that another process had written and not synced%s',
    async ([, name], { skip }) => {
      const disk = await makeFaultyDisk();
      if (disk === undefined) return skip(noCompiler);
      await createUntilKilled([disk.path], 20, disk.env);
      const written = await createUntilKilled([disk.path, 'NORMAL'], 300, disk.env);
      const told = await createUntilKilled([await name(disk.path)], 200, disk.env);
      expect(told.filter((id) => written.includes(id)).length).toBeGreaterThan(100);
      await disk.cutPower();
      expect(inspect(disk.path, told)).toEqual({ integrity: 'ok', missing: 0 });
    },
  );

  it('unless commits returned before they were on the disk: then this test finds it', async ({
    skip,
  }) => {
    const disk = await makeFaultyDisk();
    if (disk === undefined) return skip(noCompiler);
    const told = await createUntilKilled([disk.path, 'NORMAL'], 500, disk.env);
    await disk.cutPower();
    const { missing } = inspect(disk.path, told);
    console.log(`power cut with synchronous=NORMAL: ${told.length} answered, ${missing} missing`);
    expect(missing).toBeGreaterThan(0);
  });
});
