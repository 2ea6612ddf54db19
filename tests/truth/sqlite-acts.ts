import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { acts } from './acts.ts';
import type { Acts, Step } from './plan.ts';
import { readSqlite, type SqliteStore } from './stores.ts';
import type { Command, World } from './world.ts';

type SqliteWorld = World<SqliteStore>;
const suffixes = ['', '-wal', '-shm', '-owner'];

/** Acts on a server of a SQLite database, its file and its disk. */
export const sqliteActs: Acts<SqliteStore> = {
  ...acts,
  'start a second server': [
    'second',
    {},
    async (world) => {
      const first = world.life;
      const second = await world.start({ isSecond: true });
      if (first?.to === Infinity) {
        const isRefused = second.url === undefined;
        world.compare('a second server is refused', isRefused, 'it accepts plants');
      }
      await world.kill(second);
    },
  ],
  'back up': [
    'command',
    { killAfterMs: [0, 0, 0, 150, 300] },
    async (world, { killAfterMs }) => {
      await backUp(world, Number(killAfterMs));
    },
    4,
  ],
  'restore a backup': ['command', {}, restore],
  'read with another program': [
    'command',
    {},
    async ({ store }) => {
      const session = openSession(store.path);
      await session.run('BEGIN; SELECT count(*) FROM plants');
      return session.close;
    },
  ],
  'lock with another program': [
    'lock',
    { kind: ['IMMEDIATE', 'EXCLUSIVE'], writes: [0, 1] },
    async (world, { kind, writes }) => {
      const session = openSession(world.store.path);
      const id = String(world.freshId());
      await session.run(`BEGIN ${kind}`);
      if (writes === 1) {
        world.write(id, JSON.stringify(['another program', null]));
        await session.run(`INSERT INTO plants (id, name) VALUES (${id}, 'another program')`);
      }
      return async () => {
        await session.run('COMMIT');
        await session.close();
      };
    },
    4,
  ],
  'change the file with another program': [
    'lock replaced',
    {
      statement: [
        'PRAGMA wal_checkpoint(TRUNCATE)',
        'PRAGMA wal_checkpoint(FULL)',
        'PRAGMA journal_mode = DELETE',
        'VACUUM',
        'CREATE INDEX IF NOT EXISTS by_name ON plants (name)',
      ],
      before: ['', 'stop', 'kill'],
      killAfterMs: [0, 0, 0, 1, 4],
    },
    async (world, { statement, before, killAfterMs }) => {
      if (before === 'stop') await world.stop();
      if (before === 'kill') await world.kill();
      const session = openSession(world.store.path);
      const running = session.run(String(statement));
      if (killAfterMs !== 0) {
        await sleep(Number(killAfterMs));
        session.child.kill('SIGKILL');
      }
      await running;
      await session.close();
      await world.startAgain();
    },
    5,
  ],
  'fail calls': [
    'disk full lock files',
    {
      call: ['write', 'write', 'sync', 'sync', 'truncate', 'create', 'open', 'read', 'lock', 'map'],
      error: [constants.errno.ENOSPC, constants.errno.EIO, constants.errno.EMFILE],
      suffix: ['*', '*', '-wal', '.db', '-shm', '-owner'],
      share: [1_000, 1_000, 500, 100],
    },
    async (world, { call, error, suffix, share }) =>
      fault(world, `${call} ${error} ${suffix} ${share} 0`),
    8,
  ],
  'delay calls': [
    'slow',
    { call: ['sync', 'write'], delayMs: [50, 700, 2_500] },
    async (world, { call, delayMs }) => fault(world, `${call} 0 * 1000 ${delayMs}`),
  ],
  'fill the disk': [
    'full disk',
    {},
    async ({ store: { isMounted, folder } }) => {
      if (!isMounted) return undefined;
      const filler = join(folder, 'filler');
      const fill = spawn('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4k'], { stdio: 'ignore' });
      await once(fill, 'exit');
      return async () => rmSync(filler);
    },
    3,
  ],
  'change the mode': [
    'mode lock disk',
    { suffix: ['folder', ...suffixes], mode: [0o000, 0o400, 0o500], kills: [0, 0, 1] },
    async (world, { suffix, mode, kills }) => {
      const { folder, path } = world.store;
      const file = suffix === 'folder' ? folder : `${path}${suffix}`;
      if (!existsSync(file)) return undefined;
      const { mode: before, ino } = statSync(file);
      chmodSync(file, Number(mode));
      if (kills === 1) await world.kill();
      await world.startAgain();
      return async () => {
        if (statSync(file, { throwIfNoEntry: false })?.ino === ino) chmodSync(file, before);
      };
    },
  ],
  'move the file away and back': [
    'moved disk lock',
    { what: ['folder', 'file', 'files'], ending: ['', '', 'stop', 'kill'] },
    moveAwayAndBack,
    5,
  ],
  'remove a file beside the database': [
    'moved replaced disk lock',
    { suffix: ['-wal', '-shm', '-owner'], isStopped: [0, 0, 1] },
    async (world, { suffix, isStopped }) => {
      if (isStopped === 1) await world.stop();
      rmSync(`${world.store.path}${suffix}`, { force: true });
      await sleep(50);
      await world.startAgain();
    },
    3,
  ],
};

let files = 0;

/** Backs up to a new file, reads it, and returns its name. */
async function backUp(world: SqliteWorld, killAfterMs = 0): Promise<[Command, string]> {
  const to = join(world.store.folder, `backup-${(files += 1)}.db`);
  const done = await world.command(['backup', to], '', killAfterMs);
  if (done.status === 0 || (done.isKilled && existsSync(to))) {
    const disk = readSqlite(to);
    world.readings.push({ name: 'backup', from: done.from, to: done.to, disk });
    const said = /: (\d+) plants?,/.exec(done.stdout)?.[1];
    const isExact = done.isKilled || Number(said) === disk.rows.size;
    world.compare('a backup counts its plants', isExact, `${said} of ${disk.rows.size}`);
  } else world.compare('a failed backup leaves no file', !existsSync(to), done.stderr);
  return [done, to];
}

/** Restores a backup as the pages say: stopped, with the files moved away. */
async function restore(world: SqliteWorld): Promise<void> {
  const { isMounted, folder, path, read } = world.store;
  const [done, backup] = await backUp(world);
  await world.stop();
  if (done.status === 0) {
    const apart = mkdtempSync(join(isMounted ? folder : world.root, 'apart-'));
    for (const suffix of suffixes) {
      if (existsSync(`${path}${suffix}`))
        renameSync(`${path}${suffix}`, join(apart, `plants.db${suffix}`));
    }
    const { rows } = readSqlite(backup);
    const { status, stderr } = await world.command(['restore', backup]);
    const isTrue = status === 0 ? isDeepStrictEqual((await read()).rows, rows) : !existsSync(path);
    world.compare('a restored database has the plants of its backup', isTrue, stderr);
    if (!existsSync(path)) copyFileSync(backup, path);
    world.replaceWith(rows);
  }
  await world.startAgain();
}

/** Moves the folder, the database, or the database and the files beside it away, and later back. */
async function moveAwayAndBack(world: SqliteWorld, { what, ending, forMs }: Step): Promise<void> {
  const { folder, path, isMounted } = world.store;
  const moved: (readonly [string, string])[] = [];
  const move = (from: string, to: string) => {
    if (!existsSync(from)) return;
    renameSync(from, to);
    moved.push([from, to]);
  };
  if (what === 'folder' && !isMounted) move(folder, `${folder}.away`);
  if (what === 'file') move(path, join(folder, 'moved.db'));
  if (what === 'files')
    for (const suffix of suffixes) move(`${path}${suffix}`, join(folder, `moved.db${suffix}`));
  await sleep(forMs);
  if (ending === 'stop') await world.stop();
  if (ending === 'kill') await world.kill();
  for (const [from, to] of moved) {
    if (from === folder) rmSync(folder, { recursive: true, force: true });
    if (existsSync(to)) renameSync(to, from);
  }
  await world.startAgain();
}

/** Makes a line for disk.c apply until the act ends. */
async function fault({ store }: SqliteWorld, line: string): Promise<() => Promise<void>> {
  store.faults.add(line);
  store.applyFaults();
  return async () => {
    store.faults.delete(line);
    store.applyFaults();
  };
}

/** A connection of another program to a database that exists. */
function openSession(path: string) {
  const program = fileURLToPath(new URL('sql-session.ts', import.meta.url));
  const args = ['--disable-warning=ExperimentalWarning', program, path];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  child.stdin.on('error', () => {});
  const replies = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    child,
    /** Resolves once the statements have succeeded or failed, or the program has ended. */
    async run(statements: string): Promise<void> {
      child.stdin.write(`${statements}\n`);
      await replies.next();
    },
    async close(): Promise<void> {
      child.stdin.end();
      await exited;
    },
  };
}
