import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { acts } from './acts.ts';
import { actOn, type Acts } from './plan.ts';
import { readSqlite, type SqliteStore } from './sqlite-store.ts';
import { textOf } from './store.ts';
import type { World } from './world.ts';

type SqliteWorld = World<SqliteStore>;

const { ENOSPC, EIO, EMFILE } = constants.errno;
const changes = [
  'PRAGMA wal_checkpoint(TRUNCATE)',
  'PRAGMA wal_checkpoint(FULL)',
  'PRAGMA journal_mode = DELETE',
  'VACUUM',
];
const suffixes = ['', '-wal', '-shm', '-owner'];
const endings = ['', '', 'SIGTERM', 'kill'] as const;

const act = actOn<SqliteStore>();

/** Acts on a server of a SQLite database, its file and its disk. */
export const sqliteActs: Acts<SqliteStore> = {
  ...acts,
  'start a second server': act(2, 'lock', {}, async (world) => {
    const first = world.server;
    const second = await world.start({ isSecond: true });
    const isRefused = second.url === undefined || first?.to !== Infinity;
    world.compare('a second server is refused', isRefused, second.stdout);
    await world.kill(second);
  }),
  'back up': act(4, 'command', { killAfterMs: [0, 0, 0, 150, 300] }, async (world, chosen) => {
    await backUp(world, chosen.killAfterMs);
  }),
  'restore a backup': act(2, 'command', {}, restore),
  'read with another program': act(2, '', {}, async ({ store }) =>
    runSql(store, 'BEGIN; SELECT count(*) FROM plants'),
  ),
  'lock with another program': act(
    4,
    'lock',
    { kind: ['IMMEDIATE', 'EXCLUSIVE'] },
    async (world, { kind }) => {
      const id = world.freshId();
      world.written.add(id + textOf('another'));
      const insert = `INSERT INTO plants (id, name) VALUES (${id}, 'another')`;
      return runSql(world.store, `BEGIN ${kind}; ${insert}`, 'COMMIT');
    },
  ),
  'change the file with another program': act(
    5,
    'lock replaced',
    { statement: changes, ending: endings, killAfterMs: [0, 0, 0, 1, 4] },
    async (world, { statement, ending, killAfterMs }) => {
      await world.end(ending);
      const close = await runSql(world.store, statement, '', killAfterMs);
      await close();
      await world.startAgain();
    },
  ),
  'fail calls': failing(5, 'disk lock', [1_000]),
  'fail some calls': failing(3, 'disk lock chance', [100, 500]),
  'delay calls': act(
    2,
    'slow',
    { call: ['sync', 'write'], ms: [50, 700, 2_500] },
    async ({ store }, { call, ms }) => store.fail(`${call} 0 * 1000 ${ms}`),
  ),
  'fill the disk': act(3, 'disk', {}, async ({ store: { isMounted, folder } }) => {
    if (!isMounted) return undefined;
    const filler = join(folder, 'filler');
    await once(spawn('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4k'], { stdio: 'ignore' }), 'exit');
    return async () => rmSync(filler);
  }),
  'change the mode': act(
    2,
    'mode',
    { of: ['folder', ...suffixes], mode: [0o000, 0o400, 0o500], ending: endings },
    async (world, { of, mode, ending }) => {
      const { folder, path } = world.store;
      const file = of === 'folder' ? folder : `${path}${of}`;
      if (!existsSync(file)) return undefined;
      chmodSync(file, mode);
      await world.end(ending);
      await world.startAgain();
      // Also of the files beside it, which SQLite has created with its mode, and of what was moved.
      return async () => spawnSync('chmod', ['-R', 'u+rwX', folder, `${folder}.away`]);
    },
  ),
  'move files away and back': act(
    5,
    'moved',
    { what: ['folder', 'file', 'files'], ending: endings, ms: [50, 400, 1_500] },
    async (world, { what, ending, ms }) => {
      const { folder, path, isMounted } = world.store;
      const names = what === 'files' ? suffixes.map((suffix) => path + suffix) : [path];
      const moved = what === 'folder' && !isMounted ? [folder] : names.filter(existsSync);
      for (const name of moved) renameSync(name, `${name}.away`);
      await sleep(ms);
      await world.end(ending);
      for (const name of moved) {
        rmSync(name, { recursive: true, force: true });
        renameSync(`${name}.away`, name);
      }
      await world.startAgain();
    },
  ),
  'remove a file beside the database': act(
    3,
    'moved replaced',
    { suffix: suffixes.slice(1), ending: ['', '', 'SIGTERM'] },
    async (world, { suffix, ending }) => {
      await world.end(ending);
      rmSync(`${world.store.path}${suffix}`, { force: true });
      await sleep(50);
      await world.startAgain();
    },
  ),
};

/** Makes some of 1,000 calls fail. */
function failing(weight: number, causes: string, share: readonly number[]) {
  const choices = {
    call: ['write', 'write', 'sync', 'sync', 'truncate', 'create', 'open', 'read', 'lock', 'map'],
    error: [ENOSPC, EIO, EMFILE],
    suffix: ['*', '*', '-wal', '.db', '-shm', '-owner'],
    share,
  };
  return act(weight, causes, choices, async ({ store }, chosen) =>
    store.fail(`${chosen.call} ${chosen.error} ${chosen.suffix} ${chosen.share} 0`),
  );
}

/** Backs up to a new file, reads it, and returns its name if it is complete. */
async function backUp(world: SqliteWorld, killAfterMs = 0): Promise<string | undefined> {
  const to = join(world.store.folder, `backup-${world.commands.length}.db`);
  const { child, ending, stdout, stderr, ...time } = await world.command(
    ['backup', to],
    '',
    killAfterMs,
  );
  const exists = existsSync(to);
  const isComplete = child.exitCode === 0;
  if (isComplete || ending === undefined)
    world.compare('a backup has a file if it succeeds', exists === isComplete, stderr);
  if (!exists) return undefined;
  const disk = readSqlite(to);
  world.readings.push({ name: 'backup', from: time.from, to: time.to, disk });
  const said = Number(/: (\d+) plants?,/.exec(stdout)?.[1]);
  if (isComplete) world.compare('a backup counts its plants', said === disk.rows.size, stdout);
  return isComplete ? to : undefined;
}

/** Restores a backup as the pages say: stopped, with the files moved away. */
async function restore(world: SqliteWorld): Promise<void> {
  const { folder, path, read } = world.store;
  const backup = await backUp(world);
  await world.end('SIGTERM');
  if (backup !== undefined) {
    const apart = mkdtempSync(join(folder, 'apart-'));
    for (const suffix of suffixes)
      if (existsSync(path + suffix)) renameSync(path + suffix, join(apart, `plants.db${suffix}`));
    const { rows } = readSqlite(backup);
    const { child, stderr } = await world.command(['restore', backup]);
    const isTrue =
      child.exitCode === 0 ? isDeepStrictEqual((await read()).rows, rows) : !existsSync(path);
    world.compare('a restored database has the plants of its backup', isTrue, stderr);
    if (!existsSync(path)) copyFileSync(backup, path);
    world.lostAt = performance.now();
    for (const [id, text] of rows) world.written.add(id + text);
  }
  await world.startAgain();
}

/** Runs statements in another program, and later others; or kills it while it runs the first. */
async function runSql({ path }: SqliteStore, begin: string, last = '', killAfterMs = 0) {
  const program = fileURLToPath(new URL('run-sql.ts', import.meta.url));
  const args = ['--disable-warning=ExperimentalWarning', program, path, begin, last];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(child, 'close');
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  await lines.next();
  if (killAfterMs > 0) await sleep(killAfterMs).then(() => child.kill('SIGKILL'));
  else await lines.next();
  return async () => {
    child.stdin.on('error', () => {}).end();
    await ended;
  };
}
