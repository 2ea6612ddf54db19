import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { buildLibrary } from '@plantstore/test-support/faulty-disk';
import { mountSmallDisk } from '@plantstore/test-support/small-disk';
import { type Act, acts, type Perform, readActs } from './acts.ts';
import { get } from './clients.ts';
import { damaged, type Disk, diskOf, mayFill, shell, type Store } from './store.ts';
import { serverArgs, type World } from './world.ts';

/**
 * Acts on a server of a SQLite database, its file and its disk. -wal and -shm alone are
 * removed only while the server has two connections to the database.
 */
export const sqliteActs = [
  ...acts,
  ...readActs(String.raw`
fill the disk | disk | sh
  | mountpoint -q $FOLDER && dd if=/dev/zero of=$FOLDER/filler bs=4k 2> $ROOT/dd; :
  | rm -f $FOLDER/filler
start a second server | lock | second
back up [completely,completely,killed] | command | backup | $1
restore after [rm -f $DB,rm -f $DB*,rm -rf $FOLDER/*,rm -rf $FOLDER,cp $BACKUP $DB,
  cp $BACKUP $DB+; mv $DB+ $DB] [SIGTERM,SIGKILL] | replaced command | restore | $1; : | | $2
read with another program [50,900,2500] | | sh
  | $NODE -e "$SQL" $DB "BEGIN; SELECT count(*) FROM plants" $1; :
lock with another program [IMMEDIATE,EXCLUSIVE] [50,900,2500] | lock | sh
  | $NODE -e "$SQL" $DB "BEGIN $1; INSERT OR IGNORE INTO plants VALUES (-7, 'another', NULL)"
    $2 COMMIT; :
[PRAGMA wal_checkpoint(TRUNCATE),PRAGMA journal_mode = DELETE,VACUUM] [,,SIGTERM,SIGKILL]
  | lock replaced | sh | $NODE -e "$SQL" $DB "$1"; : | | $2
fail [write,write,sync,sync,truncate,create,open,read,lock,map] [28,5,24]
  [*,*,-wal,.db,-shm,-owner] | disk lock | sh | echo '$1 $2 $3 1000 0' >> $ROOT/faults
  | rm -f $ROOT/faults
fail some [write,sync,truncate,create,open,read,lock] [28,5,24] | disk lock chance | sh
  | echo '$1 $2 * 300 0' >> $ROOT/faults | rm -f $ROOT/faults
delay [sync,write] [50,700,2500] | slow | sh | echo '$1 0 * 1000 $2' >> $ROOT/faults
  | rm -f $ROOT/faults
chmod [0,400] [$FOLDER,$DB,$DB-wal,$DB-shm] | mode | sh | chmod $1 $2; : | chmod -R u+rwX $FOLDER*; :
move [$DB,$DB $DB-*,$FOLDER] away and back [,,SIGTERM,SIGKILL] | alone moved | sh
  | for f in $1; do mv $f $f.away; done; : | for f in $FOLDER.away $FOLDER/*.away
    ; do test -e $f && to=$(dirname $f)/$(basename $f .away) && rm -rf $to && mv $f $to; done; :
  | $2
remove [-wal,-shm] | alone replaced | sh
  | test $(ls -l /proc/$PID/fd |grep -c 'db-wal$') = 2 && rm -f $DB$1; :
  | while ls -l /proc/$PID/fd |grep -q "db$1 (deleted"; do sleep 0.1; done
remove -owner | replaced | sh | rm -f $DB-owner
`),
];

const ways: Readonly<Record<string, Perform>> = {
  async second(world, { causes }) {
    const ready = await get(world, '/readyz');
    const second = await world.command(serverArgs, 10_000);
    // A server closes a file that it cannot use.
    const isFree = ready.status !== 200 || !world.isOnlyCause(causes, second);
    world.compare('a second server is refused', second.ending === '' || isFree, second);
  },

  backup: async (world, act) => void (await backUp(world, act, act.begin === 'killed' ? 250 : 0)),

  /** Loses the files, and restores a backup as the pages describe: stopped, the rest moved away. */
  async restore(world, act) {
    const { causes, ending, begin: lose } = act;
    const backup = await backUp(world, act);
    if (backup === undefined) return;
    const BACKUP = join(world.root, 'backup.db');
    const run = async (commands: string) => shell(commands, { ...world.variables, BACKUP });
    await run(`cp ${backup} $BACKUP; ${lose}`);
    // Of what is acknowledged from now on, nothing would stay.
    world.lostAt = performance.now();
    await sleep(300);
    await world.server?.end(ending);
    await run('mkdir -p $ROOT/apart $FOLDER; mv $DB* $ROOT/apart; :');
    const restored = await world.command(['restore', BACKUP]);
    const { rows } = readSqlite(world.store.variables.DB ?? '');
    const isEqual = isDeepStrictEqual(rows, readSqlite(BACKUP).rows);
    const isTrue = restored.status === 0 ? isEqual : !world.isOnlyCause(causes, restored);
    world.compare('a restored database has the plants of its backup', isTrue, restored);
    await run('test -e $DB || cp $BACKUP $DB');
  },
};

/** Backs up to a new file, reads it, and returns its name if it is complete. */
async function backUp(world: World, { causes }: Act, killAfterMs = 0) {
  const file = join(world.store.variables.FOLDER, `backup-${world.commands.length}.db`);
  const command = await world.command(['backup', file], killAfterMs);
  const isComplete = command.status === 0;
  const said = isComplete ? command.log.replace(/.*?: /, '') : undefined;
  const mayFail = command.ending !== '' || !world.isOnlyCause(causes, command);
  world.compare('a backup succeeds unless something prevents it', isComplete || mayFail, command);
  const isTrue = command.ending !== '' || existsSync(file) === isComplete;
  world.compare('a backup has a file if it succeeds', isTrue, command);
  if (existsSync(file)) world.read('backup', command, readSqlite(file), said);
  return isComplete ? file : undefined;
}

/** Creates the folder of a database, on an ext4 of its own for every fourth seed. */
export async function createSqlite(seed: number, root: string): Promise<Store> {
  const library = await buildLibrary();
  const [folder, faults] = [join(root, 'data'), join(root, 'faults')];
  const path = join(folder, 'plants.db');
  mkdirSync(folder);
  const unmount = seed % 4 === 0 && mayFill ? await mountSmallDisk(folder) : undefined;
  return {
    database: `sqlite:${path}`,
    env: library ? { LD_PRELOAD: library, DISK_FOLDER: folder, DISK_FAULTS: faults } : {},
    variables: { ...variables, FOLDER: folder, DB: path },
    read: async () => readSqlite(path),
    ways,
    dispose: async () => unmount?.(),
  };
}

/** Variables of the shell commands. */
const variables = {
  /** Another program, which runs statements, and waits for so many milliseconds between them. */
  SQL: `const [path, ...all] = process.argv.slice(1);
    const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync('file:' + path + '?mode=rw', { timeout: 5_000 });
    const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    for (const one of all) Number(one) ? wait(Number(one)) : database.exec(one);`,
};

/** Reads a SQLite file and the WAL file beside it, from a copy of both. */
function readSqlite(path: string): Disk {
  const folder = mkdtempSync(join(tmpdir(), 'plantstore-truth-'));
  const copy = join(folder, 'copy.db');
  let database: DatabaseSync | undefined;
  try {
    copyFileSync(path, copy);
    if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`);
    database = new DatabaseSync(copy);
    const check = database.prepare('PRAGMA integrity_check').get()?.['integrity_check'];
    const select = database.prepare('SELECT id, name, tag FROM plants');
    select.setReadBigInts(true);
    return diskOf(select.all(), String(check));
  } catch (thrown) {
    return damaged(thrown);
  } finally {
    database?.close();
    rmSync(folder, { recursive: true });
  }
}
