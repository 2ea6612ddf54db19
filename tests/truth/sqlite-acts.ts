import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { acts } from './acts.ts';
import { act, type Acts, type Step } from './plan.ts';
import { readSqlite, type SqliteStore } from './stores.ts';
import type { Command, World } from './world.ts';

type SqliteWorld = World<SqliteStore>;
const suffixes = ['', '-wal', '-shm', '-owner'];

/** Acts on a server of a SQLite database, its file and its disk. */
export const sqliteActs: Acts<SqliteStore> = {
  ...acts,
  'start a second server': act('second', {}, async (world) => {
    const first = world.life;
    const second = await world.start({ isSecond: true });
    if (first?.to === Infinity) {
      const isRefused = second.url === undefined;
      world.compare('a second server is refused', isRefused, 'it accepts plants');
    }
    await world.kill(second);
  }),
  'back up': act(
    'command',
    { killAfterMs: [0, 0, 0, 150, 300] },
    async (world, { killAfterMs }) => {
      await backUp(world, Number(killAfterMs));
    },
    4,
  ),
  'restore a backup': act('command', { how: ['restore', 'copy'] }, async (world, { how }) => {
    const [done, backup] = await backUp(world);
    await world.stop();
    if (done.status === 0) await restore(world, backup, how === 'restore');
    await world.startAgain();
  }),
  'read with another program': act('command', {}, async ({ store }) => {
    const session = openSession(store.path);
    await session.run('BEGIN', 'SELECT count(*) FROM plants');
    return session.close;
  }),
  'lock with another program': act(
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
  ),
  'change the file with another program': act(
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
      if (killAfterMs !== 0) await session.kill(Number(killAfterMs));
      await running;
      await session.close();
      await world.startAgain();
    },
    5,
  ),
  'alter the table': act(
    'alter lock',
    {
      change: [
        'CREATE TRIGGER t BEFORE INSERT ON plants WHEN random() % 2 BEGIN SELECT RAISE(IGNORE); END;DROP TRIGGER IF EXISTS t',
        'CREATE UNIQUE INDEX u ON plants (id, name);DROP INDEX IF EXISTS u',
        'ALTER TABLE plants RENAME TO garden;ALTER TABLE garden RENAME TO plants',
      ],
    },
    async ({ store }, { change }) => {
      const at = String(change).lastIndexOf(';');
      const session = openSession(store.path);
      if (!(await session.run(String(change).slice(0, at)))) return session.close;
      return async () => {
        for (let attempt = 0; attempt < 100; attempt += 1) {
          if (await session.run(String(change).slice(at + 1))) break;
          await sleep(200);
        }
        await session.close();
      };
    },
    3,
  ),
  'fail calls': act(
    'disk full lock',
    {
      call: ['write', 'write', 'sync', 'sync', 'truncate', 'create', 'open', 'read', 'lock', 'map'],
      error: [constants.errno.ENOSPC, constants.errno.EIO],
      suffix: ['*', '*', '-wal', '.db', '-shm', '-owner'],
      share: [1_000, 1_000, 500, 100],
    },
    async (world, { call, error, suffix, share }) =>
      fault(world, `${call} ${error} ${suffix} ${share} 0`),
    8,
  ),
  'delay calls': act(
    'slow',
    { call: ['sync', 'write'], delayMs: [50, 700, 2_500] },
    async (world, { call, delayMs }) => fault(world, `${call} 0 * 1000 ${delayMs}`),
  ),
  'fill the disk': act(
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
  ),
  'limit the process': act(
    'files full disk',
    { limit: ['nofile=25', 'nofile=50', 'fsize=0', 'fsize=100000'] },
    async ({ life }, { limit }) => {
      const [name = ''] = String(limit).split('=');
      const set = (...args: readonly string[]) => {
        if (life?.to !== Infinity) return '';
        return execFileSync('prlimit', ['--pid', String(life.child.pid), ...args])
          .toString()
          .trim();
      };
      const before = set(`--${name}`, '--noheadings', '--raw', '--output=SOFT');
      set(`--${limit}:`);
      return async () => void set(`--${name}=${before}:`);
    },
  ),
  'change the mode': act(
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
  ),
  'move the file away and back': act(
    'moved disk lock',
    { what: ['folder', 'file', 'files'], ending: ['', '', 'stop', 'kill'] },
    moveAwayAndBack,
    5,
  ),
  'remove a file beside the database': act(
    'moved replaced disk lock',
    { suffix: ['-wal', '-shm', '-owner'], isStopped: [0, 0, 1] },
    async (world, { suffix, isStopped }) => {
      if (isStopped === 1) await world.stop();
      rmSync(`${world.store.path}${suffix}`, { force: true });
      await sleep(50);
      await world.startAgain();
    },
    3,
  ),
  'copy a backup over the file': act('replaced moved damage disk', {}, async (world) => {
    const [done, backup] = await backUp(world);
    if (done.status !== 0 || world.life?.to !== Infinity) return;
    writeFileSync(world.store.path, readFileSync(backup));
    const created = await world.create(world.freshId(), 'overwritten');
    const isStored = created.status === 200;
    world.compare(
      'no create succeeds on a file that a backup was copied over',
      !isStored,
      created.requestId,
    );
    await world.kill();
    await restore(world, backup, true);
    await world.startAgain();
  }),
  'put a backup beside the WAL': act('replaced moved', {}, async (world) => {
    const { path } = world.store;
    const [done, backup] = await backUp(world);
    await world.kill();
    const wal = `${path}-wal`;
    if (done.status === 0 && existsSync(wal) && statSync(wal).size > 0) {
      renameSync(path, `${path}.original`);
      copyFileSync(backup, path);
      const before = readFileSync(wal);
      const { url } = await world.start();
      world.compare(
        'a backup beside a WAL file is refused',
        url === undefined,
        'a start accepts it',
      );
      world.compare('a refused start changes no WAL file', readFileSync(wal).equals(before), wal);
      await world.kill();
      renameSync(`${path}.original`, path);
    }
    await world.startAgain();
  }),
  'shorten the WAL': act(
    'replaced disk damage',
    { part: [0, 0.5] },
    async (world, { part }) => {
      const wal = `${world.store.path}-wal`;
      if (existsSync(wal)) truncateSync(wal, Math.floor(statSync(wal).size * Number(part)));
      const created = await world.create(world.freshId(), 'shortened').catch(() => undefined);
      await world.kill();
      const { rows } = await world.store.read();
      const isStored = created?.status !== 200 || rows.has(created.id ?? '');
      world.compare(
        'no create succeeds on a WAL that was shortened',
        isStored,
        created?.requestId ?? '',
      );
      // What is left is kept apart; the operator begins with an empty folder.
      await moveApart(world);
      world.replaceWith(new Map());
      await world.startAgain();
    },
    1,
  ),
  'export a file while a backup is copied over it': act(
    'replaced command disk damage',
    {},
    async (world) => {
      const rows = await importMany(world, 6_000);
      const { path } = world.store;
      await world.stop();
      const [done, backup] = await backUp(world);
      if (done.status === 0 && rows > 0) {
        await importMany(world, 3_000);
        await world.export({
          database: `sqlite:${path}`,
          meanwhile: async () => writeFileSync(path, readFileSync(backup)),
        });
        await restore(world, backup, true);
      }
      await world.startAgain();
    },
  ),
  'export a damaged copy': act('damage command disk', {}, async (world) => {
    await importMany(world, 300);
    const [done, backup] = await backUp(world);
    const bytes = done.status === 0 ? readFileSync(backup) : Buffer.alloc(0);
    const pages = Array.from({ length: bytes.length / 4_096 }, (_, page) => page * 4_096);
    const [first = 0, ...leaves] = pages.filter((at) => at > 0 && bytes[at] === 13);
    const last = leaves.at(-1);
    if (last !== undefined) {
      bytes.copy(bytes, last, first, first + 4_096);
      writeFileSync(backup, bytes);
      await world.export({ database: `sqlite:${backup}` });
    }
    await world.startAgain();
  }),
};

let files = 0;

/** Backs up to a new file, reads it, and returns its name. */
async function backUp(world: SqliteWorld, killAfterMs = 0): Promise<[Command, string]> {
  const to = join(world.store.folder, `backup-${(files += 1)}.db`);
  const done = await world.command(['backup', to], killAfterMs > 0 ? { killAfterMs } : {});
  if (done.status === 0 || (done.isKilled && existsSync(to))) {
    const disk = readSqlite(to);
    world.readings.push({ name: 'backup', from: done.from, to: done.to, disk });
    const said = /: (\d+) plants?,/.exec(done.stdout)?.[1];
    const isExact = done.isKilled || Number(said) === disk.rows.size;
    world.compare('a backup counts its plants', isExact, `${said} of ${disk.rows.size}`);
  } else world.compare('a failed backup leaves no file', !existsSync(to), done.stderr);
  return [done, to];
}

/** Moves the database and the files beside it to a new folder. */
async function moveApart({ store, root }: SqliteWorld): Promise<void> {
  const apart = mkdtempSync(join(store.isMounted ? store.folder : root, 'apart-'));
  for (const suffix of suffixes) {
    const file = `${store.path}${suffix}`;
    if (existsSync(file)) renameSync(file, join(apart, `plants.db${suffix}`));
  }
}

/** Restores a backup as the pages say: stopped, with the files moved away. */
async function restore(world: SqliteWorld, backup: string, byCommand: boolean): Promise<void> {
  await moveApart(world);
  const { rows } = readSqlite(backup);
  if (byCommand) {
    const { status, stderr } = await world.command(['restore', backup]);
    const isWhole = status === 0 && (await world.store.read()).rows.size === rows.size;
    const isLeft = status !== 0 && existsSync(world.store.path);
    world.compare('a restored database has the plants of its backup', isWhole || !isLeft, stderr);
  }
  if (!existsSync(world.store.path)) copyFileSync(backup, world.store.path);
  world.replaceWith(rows);
}

/** Imports plants while no server runs. Returns their number, 0 if it fails. */
async function importMany(world: SqliteWorld, count: number): Promise<number> {
  await world.stop();
  const lines = Array.from({ length: count }, () => {
    const id = world.freshId();
    world.write(String(id), JSON.stringify(['w'.repeat(90), null]));
    return `{"id":${id},"name":"${'w'.repeat(90)}"}\n`;
  });
  const { status } = await world.command(['import'], { input: lines.join('') });
  return status === 0 ? count : 0;
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

/** A connection of another program to a database that exists. `run` resolves with whether the last statement succeeded. */
function openSession(path: string) {
  const program = fileURLToPath(new URL('sql-session.ts', import.meta.url));
  const args = ['--disable-warning=ExperimentalWarning', program, path];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error('the session has no pipes');
  const exited = once(child, 'exit');
  stdin.on('error', () => {});
  const replies = createInterface(stdout)[Symbol.asyncIterator]();
  return {
    async run(...statements: readonly string[]): Promise<boolean> {
      let reply: string | undefined;
      for (const statement of statements) {
        stdin.write(`${statement}\n`);
        reply = ((await replies.next()) as { value?: string }).value;
      }
      return reply === 'ok';
    },
    async kill(afterMs: number): Promise<void> {
      await sleep(afterMs);
      child.kill('SIGKILL');
    },
    async close(): Promise<void> {
      stdin.end();
      await exited;
    },
  };
}
