import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { faultyDisk } from '@plantstore/test-support/faulty-disk';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { runsAll } from '@plantstore/test-support/sample';
import { expect, it } from 'vitest';
import { createOnFailingDisk } from '../../test/create-on-disk.ts';
import { openSqliteRepository } from '../repository.ts';

const run = promisify(execFile);

/** Runs a program on a faulty disk, and returns what it prints. */
const runOn = async (
  name: string,
  path: string,
  env: Readonly<Record<string, string>>,
): Promise<unknown> => {
  const program = fileURLToPath(new URL(`../../test/${name}`, import.meta.url));
  const node = ['--disable-warning=ExperimentalWarning'];
  const options = { env: { ...process.env, ...env } };
  return JSON.parse((await run(process.execPath, [...node, program, path], options)).stdout);
};

it('a repository reports disk-full when a quota is exceeded', async ({ skip }) => {
  const disk = await faultyDisk(skip);
  await createOnFailingDisk(disk, { plants: [0, 20], end: 'kill' });
  const env = {
    ...disk.env,
    DISK_FAILS: 'wal 1 99',
    DISK_ERROR: String(constants.errno.EDQUOT),
  };
  expect(await runOn('open-once.ts', disk.path, env)).toEqual({
    kind: 'disk-full',
    message: `the disk that contains ${disk.path} is full, has no inode left (df -i), or a quota is exceeded; free some space`,
  });
});

it.for(['direct', 'fallback'])(
  'a repository is not opened while its WAL file cannot be rewritten (%s)',
  async (write, { skip }) => {
    const disk = await faultyDisk(skip);
    await createOnFailingDisk(disk, { plants: [0, 20], end: 'kill' });
    const env = { ...disk.env, DISK_FAILS: `${write} 1 1` };
    expect(await runOn('open-once.ts', disk.path, env)).toMatchObject({ kind: 'input-output' });
    expect(await runOn('open-once.ts', disk.path, disk.env)).toEqual({ kind: 'opened' });
  },
);

it.for([
  ['is removed if it may not survive a power cut', 'folder 2 2', [], /input-output/],
  ['is kept if only its temporary name may survive', 'folder 3 3', ['plants.db'], /^$/],
] as const)(
  'the name of a backup %s, because a sync of the folder failed',
  async ([, DISK_FAILS, names, error], { skip }) => {
    const disk = await faultyDisk(skip);
    const folder = await makeFolder();
    const source = join(folder, 'plants.db');
    await (await openSqliteRepository({ path: source }))._unsafeUnwrap().close();
    const program = fileURLToPath(new URL('../../test/copy-plants.ts', import.meta.url));
    const args = [program, 'backup', source, disk.path];
    const env = { ...process.env, ...disk.env, DISK_FAILS };
    const { stdout } = await run(process.execPath, args, { env });
    expect(stdout).toMatch(error);
    expect(await readdir(dirname(disk.path))).toEqual(names);
  },
);

it('a repository creates no plant after a failed sync of a checkpoint as long as another program has the file open, however often it tries', async ({
  skip,
}) => {
  const disk = await faultyDisk(skip);
  await createOnFailingDisk(disk, { plants: [0, 20], end: 'close' });
  const env = { ...disk.env, DISK_FAILS: 'database 1 1' };
  expect(await runOn('create-beside-reader.ts', disk.path, env)).toEqual([
    'ok',
    expect.stringMatching(/input-output$/) as unknown,
    expect.stringMatching(/^the database cannot be opened: /) as unknown,
    'the other connection is closed',
    'ok',
  ]);
});

it('a repository loses no plant when its file is replaced while it is opened, at any of its opens', async ({
  skip,
}) => {
  const disk = await faultyDisk(skip);
  const outcomes = (await runOn('replace-while-opened.ts', disk.path, disk.env)) as string[][];
  expect(outcomes).toHaveLength(3);
  for (const seen of outcomes) {
    expect(new Set(seen)).toEqual(new Set(['refused', 'stored']));
    // In the last round, nothing was replaced.
    expect(seen.length).toBeGreaterThan(runsAll ? 5 : 1);
    expect(seen.at(-1)).toBe('stored');
  }
});
