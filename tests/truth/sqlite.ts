import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { buildLibrary } from '@plantstore/test-support/faulty-disk';
import { mountSmallDisk } from '@plantstore/test-support/small-disk';
import { acts, type Perform, readActs } from './acts.ts';
import { commonReasons, damaged, type Disk, diskOf, mayFill, shell, type Store } from './store.ts';
import { countIn, now, type World } from './world.ts';

/** Acts on a server of a SQLite database, its file and its disk. */
export const sqliteActs = [
  ...acts,
  ...readActs(String.raw`
2 | start a second server | lock | second
4 | back up [completely,completely,killed] | command | backup | $1
2 | restore a backup | command | restore | | | SIGTERM
2 | copy a backup over the file [SIGTERM,SIGKILL] | replaced command | restore
  | cp $BACKUP $DB | | $1
1 | put a backup in the place of the file | replaced command | restore
  | mv $DB $DB.old; cp $BACKUP $DB | | SIGTERM
3 | remove the files [$DB,$DB*,$FOLDER/*] [SIGTERM,SIGKILL] | replaced command | restore
  | rm -rf $1 | | $2
2 | read with another program [50,900,2500] | none | meanwhile
  | $NODE -e "$SQL" $DB "BEGIN; SELECT count(*) FROM plants" $1; :
4 | lock with another program [IMMEDIATE,EXCLUSIVE] [50,900,2500] | lock | meanwhile
  | $NODE -e "$SQL" $DB "BEGIN $1; INSERT OR IGNORE INTO plants VALUES (-7, 'another', NULL)"
    $2 COMMIT; :
3 | [PRAGMA wal_checkpoint(TRUNCATE),PRAGMA journal_mode = DELETE,VACUUM] [,,SIGTERM,SIGKILL]
  | lock replaced | sh | $NODE -e "$SQL" $DB "$1"; : | | $2
2 | killed [PRAGMA wal_checkpoint(TRUNCATE),PRAGMA journal_mode = DELETE,VACUUM] [,,SIGTERM,SIGKILL]
  | lock replaced | sh
  | $NODE -e "$SQL" $DB "$1" |{ read pid; sleep 0.002; kill -9 $pid; }; : | | $2
5 | fail [write,write,sync,sync,truncate,create,open,read,lock,map] [28,5,24]
  [*,*,-wal,.db,-shm,-owner] | disk lock | sh | echo '$1 $2 $3 1000 0' >> $ROOT/faults
  | rm -f $ROOT/faults
3 | fail some [write,sync,truncate,create,open,read,lock] [28,5,24] | disk lock chance | sh
  | echo '$1 $2 * 300 0' >> $ROOT/faults | rm -f $ROOT/faults
2 | delay [sync,write] [50,700,2500] | slow | sh | echo '$1 0 * 1000 $2' >> $ROOT/faults
  | rm -f $ROOT/faults
3 | fill the disk | disk | sh
  | mountpoint -q $FOLDER && dd if=/dev/zero of=$FOLDER/filler bs=4k 2> $ROOT/dd; :
  | rm -f $FOLDER/filler
3 | chmod [0,400] [$FOLDER,$DB,$DB-wal,$DB-shm,$DB-owner] | mode | sh | chmod $1 $2; :
  | chmod -R u+rwX $FOLDER
2 | move the file away and back [,,SIGTERM,SIGKILL] | alone moved | sh
  | mv $DB $DB.away | mv -f $DB.away $DB | $1
2 | move the files away and back [,,SIGTERM,SIGKILL] | alone moved | sh
  | for f in $DB $DB-*; do mv $f $f.away; done; :
  | for f in $FOLDER/*.away; do mv -f $f $FOLDER/$(basename $f .away); done | $1
1 | move the folder away and back [,,SIGTERM,SIGKILL] | alone moved | sh
  | mountpoint -q $FOLDER || mv $FOLDER $FOLDER.away
  | mountpoint -q $FOLDER || { rm -rf $FOLDER; mv $FOLDER.away $FOLDER; } | $1
3 | remove [-wal,-shm,-owner] [,,SIGTERM] | replaced | sh | rm -f $DB$1; sleep 0.05 | | $2
`),
];

const ways: Readonly<Record<string, Perform>> = {
  async second(world) {
    const first = world.server;
    const second = await world.start(true);
    const isRefused = second.url === undefined || first?.to !== Infinity;
    world.compare('a second server is refused', isRefused, second.stdout());
    await world.kill(second);
  },

  backup: async (world, { begin }) => void (await backUp(world, begin === 'killed' ? 250 : 0)),

  /** Restores a backup as the pages say: stopped, with the files moved away. */
  async restore(world, { ending, begin: lose }) {
    const { DB = '' } = world.store.variables;
    const backup = await backUp(world);
    if (backup === undefined) return;
    const BACKUP = join(world.root, 'backup.db');
    copyFileSync(backup, BACKUP);
    await shell(lose || ':', { ...world.variables, BACKUP });
    // Of what is acknowledged from now on, nothing would stay.
    if (lose !== '') world.lostAt = now();
    await sleep(lose ? 100 : 0);
    const wal = walOf(DB);
    await sleep(lose ? 200 : 0);
    await world.end(ending);
    if (lose === '') world.lostAt = now();
    const left = walOf(DB);
    const isKept = lose === '' || left.subarray(0, wal.length).equals(wal);
    world.compare('the newest plants of a file that is lost stay in its WAL file', isKept);
    // Another program copies the pages of any WAL file into the file beside it.
    const isAlone = world.causes.filter(({ to }) => to > world.lostAt).length === 1;
    if (lose !== '' && left.length > 32 && isAlone) {
      const { url } = await world.start();
      world.compare('a file beside the WAL file of another database is refused', !url);
      await world.end('SIGKILL');
    }
    await shell('mkdir -p $ROOT/apart; mv $DB* $ROOT/apart; :', world.variables);
    const { rows } = readSqlite(BACKUP);
    for (const [id, text] of rows) world.written.add(id + text);
    const { status, errors } = await world.command(['restore', BACKUP]);
    const isEqual = isDeepStrictEqual(readSqlite(DB).rows, rows);
    const isTrue = status === 0 ? isEqual : !existsSync(DB);
    world.compare('a restored database has the plants of its backup', isTrue, errors);
    if (!existsSync(DB)) copyFileSync(BACKUP, DB);
  },
};

/** Backs up to a new file, reads it, and returns its name if it is complete. */
async function backUp(world: World, killAfterMs = 0): Promise<string | undefined> {
  const to = join(world.store.variables.FOLDER, `backup-${world.commands.length}.db`);
  const { status, log: said, ending, ...time } = await world.command(['backup', to], killAfterMs);
  const isComplete = status === 0;
  if (isComplete || ending === undefined)
    world.compare('a backup has a file if it succeeds', existsSync(to) === isComplete, said);
  if (!existsSync(to)) return undefined;
  const disk = readSqlite(to);
  world.readings.push({ name: 'backup', from: time.from, to: time.to, ...disk });
  const isExact = !isComplete || countIn(said.replace(/.*?: /, '')) === disk.rows.size;
  world.compare('a backup counts its plants', isExact, said);
  return isComplete ? to : undefined;
}

const walOf = (file: string) =>
  existsSync(`${file}-wal`) ? readFileSync(`${file}-wal`) : Buffer.alloc(0);

export const sqliteStores = { create, dispose: async () => {} };

/** Creates the folder of a database, on an ext4 of its own for each fourth seed. */
async function create(seed: number, root: string): Promise<Store> {
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
    reasons: [
      ...commonReasons,
      [/was removed, renamed|is missing, empty|does not exist|ENOENT/, 'moved replaced'],
      [/was overwritten/, 'moved replaced'],
      [/is full, has no inode/, 'disk'],
      [/reports an error|locked, shared or synced/, 'disk'],
      [/is in use/, 'lock command disk'],
      [/cannot be written to|cannot be (opened|examined)|EACCES/, 'mode disk limits moved'],
      [/damaged/, 'replaced disk'],
    ],
    dispose: async () => unmount?.(),
  };
}

/** Variables of the shell commands. */
const variables = {
  /** Another program, which runs statements, and waits for so many milliseconds between them. */
  SQL: `const [path, ...all] = process.argv.slice(1);
    const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync('file:' + path + '?mode=rw', { timeout: 5_000 });
    console.log(process.pid);
    const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms));
    for (const one of all) /^\\d+$/.test(one) ? wait(one) : database.exec(one);`,
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
