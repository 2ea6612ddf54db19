import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runsAll } from '@plantstore/test-support/sample';
import { beforeAll, expect, it } from 'vitest';
import { newFolder, post, startProgram } from './program.ts';
import { digestOf, runCommand, writePlants } from './run-command.ts';

it('a backup taken under load has every plant that was acknowledged before it began', async () => {
  const folder = await newFolder();
  const server = await startProgram({
    args: ['--database', `sqlite:${join(folder, 'plants.db')}`],
  });
  const acknowledged: number[] = [];
  const load = new AbortController();
  const clients = Array.from({ length: 4 }, async (_, client) => {
    for (let id = client; !load.signal.aborted; id += 4, await sleep(10)) {
      const { status } = await post(server.url, `{"id":${id},"name":"plant ${id}"}`);
      if (status === 200) acknowledged.push(id);
    }
  });
  for (const name of ['first.db', 'second.db']) {
    while (acknowledged.length < 50) await sleep(5);
    const before = [...acknowledged];
    expect(await runCommand(['backup', name], { cwd: folder })).toMatchObject({
      status: 0,
      stderr: '',
    });
    const { stdout } = await runCommand(['export', '--database', `sqlite:${name}`], {
      cwd: folder,
    });
    const ids = new Set(stdout.match(/(?<="id":)\d+/g)?.map(Number));
    expect(before.filter((id) => !ids.has(id))).toEqual([]);
  }
  load.abort();
  await Promise.all(clients);
});

const count = runsAll ? 20_000 : 1_000;
/** Timeout of a test that kills a process again and again, in milliseconds. */
const manyProcessesMs = 240_000;

/** A folder with `count` plants in plants.db, and a backup of them. */
let cwd = '';
beforeAll(async () => {
  let remove = async () => {};
  cwd = await newFolder((task) => {
    remove = task;
  });
  await writePlants(join(cwd, 'all.ndjson'), count);
  await runCommand(['import', 'all.ndjson'], { cwd });
  await runCommand(['backup', 'all.db'], { cwd });
  return remove;
});

/** How long a command takes that is not killed, in milliseconds. */
const timeOf = async (args: readonly string[]): Promise<number> => {
  const began = performance.now();
  expect(await runCommand(args, { cwd })).toMatchObject({ status: 0 });
  return performance.now() - began;
};

/** Moments from the start to a little after the end of a command, at random. */
const moments = (durationMs: number, length = runsAll ? 6 : 1): number[] =>
  Array.from({ length }, (_, index) => ((index + Math.random()) / length) * durationMs * 1.1);

it.each([
  ['backup', ['backup', 'copy.db']],
  ['restore', ['restore', 'all.db', '--database', 'sqlite:copy.db']],
])(
  'kill -9 at any moment of a %s leaves no file or a complete one, and running it again completes it',
  async (_, args) => {
    await rm(join(cwd, 'copy.db'), { force: true });
    const durationMs = await timeOf(args);
    const whole = await digestOf(cwd, 'copy.db');
    for (const killAfterMs of moments(durationMs)) {
      await rm(join(cwd, 'copy.db'), { force: true });
      await runCommand(args, { cwd, killAfterMs });
      const isThere = (await readdir(cwd)).includes('copy.db');
      expect((await runCommand(args, { cwd })).status).toBe(isThere ? 1 : 0);
      expect(await digestOf(cwd, 'copy.db')).toBe(whole);
    }
  },
  manyProcessesMs,
);

it(
  'an import that kill -9 ends at any moment is completed by running it again',
  async () => {
    const args = ['import', 'all.ndjson', '--database', 'sqlite:new.db'];
    const durationMs = await timeOf(['import', 'all.ndjson', '--database', 'sqlite:timed.db']);
    for (const killAfterMs of moments(durationMs)) {
      await runCommand(args, { cwd, killAfterMs });
    }
    const completed = await runCommand(args, { cwd });
    const [, created, existing] =
      /^(\d+) plants? created, (\d+) already there, 0 refused\n$/.exec(completed.stdout) ?? [];
    expect([completed.status, Number(created) + Number(existing)]).toEqual([0, count]);
    const { stdout } = await runCommand(['export', '--database', 'sqlite:new.db'], { cwd });
    expect(stdout).toBe(await readFile(join(cwd, 'all.ndjson'), 'utf8'));
  },
  manyProcessesMs,
);
