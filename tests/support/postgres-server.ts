import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, statfsSync } from 'node:fs';
import { appendFile, chmod, chown, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { postgresBinaries } from './postgres-binaries.ts';

const run = promisify(execFile);

/** Password of the superuser: distinctive, so that tests can search for it. */
export const superuserPassword = 'p%:/@?#ss wörd';

/** A PostgreSQL server that a test controls. */
export type PostgresServer = {
  readonly port: number;
  readonly folder: string;
  /** Returns a URL for the superuser. */
  readonly url: (database?: string, port?: number) => string;
  readonly start: () => Promise<void>;
  /** `SIGINT` is a fast shutdown, `SIGQUIT` an immediate shutdown, which requires recovery. Default: `SIGINT`. */
  readonly stop: (signal?: 'SIGINT' | 'SIGQUIT') => Promise<void>;
  /** Suspends or resumes every process of the server. */
  readonly signalAll: (signal: 'SIGSTOP' | 'SIGCONT') => Promise<void>;
  /** Stops the server and removes its files. */
  readonly dispose: () => Promise<void>;
};

/** User for PostgreSQL and pgbouncer, which refuse to run as root; empty when the tests do not run as root. */
export const unprivilegedUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const childrenOf = async (pid: number): Promise<number[]> => {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=']);
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child = 0, parent]) => (parent === pid ? [child] : []));
};

/** Sends a signal to a process, if it still exists. */
const signal = (pid: number, name: 'SIGSTOP' | 'SIGCONT') => {
  try {
    process.kill(pid, name);
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')) throw thrown;
  }
};

/** Changes the owner of a file to the user of the server. */
export const changeOwner = async (path: string) => {
  if (unprivilegedUser.uid !== undefined)
    await chown(path, unprivilegedUser.uid, unprivilegedUser.gid);
};

const spaceIn = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
};

/** A folder in memory, where a server starts and creates databases in a fraction of the time; a container may have too little space in it. */
const memoryFolder =
  existsSync('/dev/shm') && spaceIn('/dev/shm') > 2 ** 30 ? '/dev/shm' : tmpdir();

const newFolder = async (parent = memoryFolder) => {
  const folder = await mkdtemp(join(parent, 'plantstore-postgres-'));
  await changeOwner(folder);
  return folder;
};

const controlOf = (bin: string, folder: string, port: number): PostgresServer => {
  const data = join(folder, 'data');
  let child: ChildProcess | undefined;
  let exited: Promise<unknown> = Promise.resolve();

  const server: PostgresServer = {
    port,
    folder,
    url: (database = 'postgres', atPort = port) =>
      `postgres://postgres:${encodeURIComponent(superuserPassword)}@127.0.0.1:${atPort}/${database}`,
    async start() {
      const args = ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1'];
      const started = spawn(join(bin, 'postgres'), [...args, '-k', folder], {
        ...unprivilegedUser,
        env: { ...process.env, LC_ALL: 'C' },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      child = started;
      exited = once(started, 'exit');
      let output = '';
      await new Promise<void>((resolve, reject) => {
        started.stderr.setEncoding('utf8').on('data', (text: string) => {
          output += text;
          if (/ready to accept (read-only )?connections/.test(text)) resolve();
        });
        started.once('exit', () => reject(new Error(output)));
      });
    },
    async stop(signalName = 'SIGINT') {
      child?.kill(signalName);
      await exited;
    },
    async signalAll(name) {
      const pid = child?.pid;
      if (pid === undefined) return;
      // The postmaster is suspended first and resumed last, so that it starts no process in between.
      if (name === 'SIGSTOP') signal(pid, name);
      for (const one of await childrenOf(pid)) signal(one, name);
      if (name === 'SIGCONT') signal(pid, name);
    },
    async dispose() {
      if (child?.exitCode === null && child.signalCode === null) {
        await server.signalAll('SIGCONT');
        await server.stop('SIGQUIT');
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
  return server;
};

/** Copies the data folder of a server that is not running. */
const copyData = async (from: string, to: string) => {
  cpSync(from, to, { recursive: true });
  // PostgreSQL refuses a folder that others can enter.
  await chmod(to, 0o700);
  const { uid, gid } = unprivilegedUser;
  if (uid !== undefined) await run('chown', ['-R', `${uid}:${gid}`, to]);
};

/** Returns the data folder of a new server. `initdb` makes it once for each version: that takes ten times as long as a copy. */
const newData = async (bin: string): Promise<string> => {
  const { stdout: version } = await run(join(bin, 'postgres'), ['--version']);
  const key = createHash('sha256')
    .update(`${bin} ${version} ${superuserPassword}`)
    .digest('hex')
    .slice(0, 16);
  const cache = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));
  const kept = join(cache, `postgres-data-${key}`);
  if (existsSync(kept)) return kept;
  await mkdir(cache, { recursive: true });
  const folder = await newFolder();
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, superuserPassword);
  await changeOwner(passwordFile);
  const data = join(folder, 'data');
  const authOptions = ['--auth=scram-sha-256', '--username=postgres', `--pwfile=${passwordFile}`];
  const clusterOptions = ['--encoding=UTF8', '--locale=C', '--no-sync', `--pgdata=${data}`];
  const options = { ...unprivilegedUser, cwd: folder };
  await run(join(bin, 'initdb'), [...authOptions, ...clusterOptions], options);
  const temporary = `${kept}.${randomUUID()}`;
  await copyData(data, temporary);
  await rm(folder, { recursive: true });
  // Atomic. The rename fails if another process has completed its copy first.
  await rename(temporary, kept).catch(async () => rm(temporary, { recursive: true }));
  return kept;
};

/** Creates and starts a server. `settings` are lines of postgresql.conf. Its files are below `parent`; default: in memory. */
export const startPostgres = async (settings = '', parent?: string): Promise<PostgresServer> => {
  const bin = await postgresBinaries();
  const folder = await newFolder(parent);
  const data = join(folder, 'data');
  await copyData(await newData(bin), data);
  await appendFile(join(data, 'postgresql.conf'), `\nmax_connections = 100\n${settings}\n`);
  const server = controlOf(bin, folder, await freePort());
  await server.start();
  return server;
};

/** Starts a read-only standby from a copy of the files of a stopped server. */
export const startStandbyOf = async (stopped: PostgresServer): Promise<PostgresServer> => {
  const folder = await newFolder();
  const data = join(folder, 'data');
  await copyData(join(stopped.folder, 'data'), data);
  await writeFile(join(data, 'standby.signal'), '');
  const server = controlOf(await postgresBinaries(), folder, await freePort());
  await server.start();
  return server;
};
