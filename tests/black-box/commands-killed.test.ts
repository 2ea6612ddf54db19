import { copyFile, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder, post, startHost } from './host.ts';
import { digestOf, runCommand, writePlants } from './run-command.ts';

it('a backup taken under load has every plant that was acknowledged before it began', async () => {
  const cwd = await newFolder();
  const host = await startHost({ args: ['--database', `sqlite:${join(cwd, 'plants.db')}`] });
  const acknowledged: number[] = [];
  const load = new AbortController();
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let id = client; !load.signal.aborted; id += 8) {
      const { status } = await post(host.url, `{"id":${id},"name":"plant ${id}"}`);
      if (status === 200) acknowledged.push(id);
    }
  });
  for (const name of ['first.db', 'second.db', 'third.db']) {
    while (acknowledged.length < 200) await new Promise((next) => setTimeout(next, 5));
    const before = [...acknowledged];
    expect(await runCommand(['backup', name], { cwd })).toMatchObject({ status: 0, stderr: '' });
    const { stdout } = await runCommand(['export', '--database', `sqlite:${name}`], { cwd });
    const ids = new Set(stdout.match(/(?<="id":)\d+/g)?.map(Number));
    expect(before.filter((id) => !ids.has(id))).toEqual([]);
  }
  load.abort();
  await Promise.all(clients);
  // Seven processes beside a load.
}, 120_000);

const count = 20_000;
/** Timeout of a test that kills a process again and again, in milliseconds. */
const manyProcessesMs = 240_000;

/** A folder with `count` plants in plants.db, a backup of them, and 10 other plants in small.db. */
const newStores = async () => {
  const cwd = await newFolder();
  await writePlants(join(cwd, 'all.ndjson'), count);
  await runCommand(['import', 'all.ndjson'], { cwd });
  await runCommand(['backup', 'all.db'], { cwd });
  await writePlants(join(cwd, 'few.ndjson'), 10);
  await runCommand(['import', 'few.ndjson', '--database', 'sqlite:small.db'], { cwd });
  return cwd;
};

const exported = async (cwd: string, name: string): Promise<number> => {
  const database = ['--database', `sqlite:${name}`];
  const { status, stdout } = await runCommand(['export', ...database], { cwd });
  expect(status).toBe(0);
  return stdout.split('\n').length - 1;
};

/** How long a command takes that is not killed, in milliseconds. */
const timeOf = async (args: readonly string[], cwd: string): Promise<number> => {
  const began = performance.now();
  expect(await runCommand(args, { cwd })).toMatchObject({ status: 0 });
  return performance.now() - began;
};

/** Moments from the start to a little after the end of a command, at random. */
const moments = (durationMs: number, length = 6): number[] =>
  Array.from({ length }, (_, index) => ((index + Math.random()) / length) * durationMs * 1.1);

it(
  'kill -9 at any moment of an export or a backup leaves no file of that name, or all of it',
  async () => {
    const cwd = await newStores();
    for (const [command, name] of [
      ['export', 'out.ndjson'],
      ['backup', 'out.db'],
    ] as const) {
      const durationMs = await timeOf([command, `timed-${name}`], cwd);
      const whole = await digestOf(cwd, `timed-${name}`);
      for (const killAfterMs of moments(durationMs)) {
        await runCommand([command, name], { cwd, killAfterMs });
        if ((await readdir(cwd)).includes(name)) expect(await digestOf(cwd, name)).toBe(whole);
        await rm(join(cwd, name), { force: true });
      }
      expect(await runCommand([command, name], { cwd })).toMatchObject({ status: 0 });
      expect(await digestOf(cwd, name)).toBe(whole);
      expect((await readdir(cwd)).filter((one) => one.includes('.partial'))).toEqual([]);
    }
  },
  manyProcessesMs,
);

it(
  'kill -9 at any moment of an import is settled by running it again',
  async () => {
    const cwd = await newStores();
    const args = ['import', 'all.ndjson', '--database', 'sqlite:new.db'];
    const durationMs = await timeOf(['import', 'all.ndjson', '--database', 'sqlite:timed.db'], cwd);
    for (const killAfterMs of moments(durationMs)) {
      await runCommand(args, { cwd, killAfterMs });
    }
    expect(await runCommand(args, { cwd })).toMatchObject({
      status: 0,
      stdout: `${count} plants in the database, 0 refused\n`,
    });
    await runCommand(['export', 'new.ndjson', '--database', 'sqlite:new.db'], { cwd });
    expect(await readFile(join(cwd, 'new.ndjson'))).toEqual(
      await readFile(join(cwd, 'all.ndjson')),
    );
  },
  manyProcessesMs,
);

it(
  'kill -9 at any moment of a restore leaves the old plants or the new ones, and running it again settles it',
  async () => {
    const cwd = await newStores();
    const args = ['restore', 'all.db', '--database', 'sqlite:target.db'];
    await copyFile(join(cwd, 'small.db'), join(cwd, 'target.db'));
    const durationMs = await timeOf(args, cwd);
    for (const killAfterMs of moments(durationMs)) {
      await copyFile(join(cwd, 'small.db'), join(cwd, 'target.db'));
      await runCommand(args, { cwd, killAfterMs });
      expect([10, count]).toContain(await exported(cwd, 'target.db'));
      expect(await runCommand(args, { cwd })).toMatchObject({ status: 0, stderr: '' });
      expect(await exported(cwd, 'target.db')).toBe(count);
      expect((await readdir(cwd)).filter((one) => one.includes('restoring'))).toEqual([]);
    }
  },
  manyProcessesMs,
);
