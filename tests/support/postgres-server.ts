import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chown, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { postgresBinaries } from './postgres-binaries.ts';

const run = promisify(execFile);

/** The superuser's password: recognisable, so that tests find it where it must not be. */
export const superuserPassword = 'p%:/@?#ss wörd';

/** A real PostgreSQL server of our own. */
export type PostgresServer = {
  readonly port: number;
  readonly folder: string;
  /** A URL for the superuser. */
  readonly url: (database?: string, port?: number) => string;
  readonly start: () => Promise<void>;
  /** `SIGINT` ends sessions and stops (PostgreSQL's "fast"), `SIGQUIT` crashes. */
  readonly stop: (signal?: 'SIGINT' | 'SIGQUIT') => Promise<void>;
  /** Freezes (or thaws) every process of the server. */
  readonly signalAll: (signal: 'SIGSTOP' | 'SIGCONT') => Promise<void>;
  /** Stops it and removes its files. */
  readonly dispose: () => Promise<void>;
};

/** PostgreSQL and pgbouncer refuse to run as root. */
export const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** A port that nobody listens at. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
};

const childrenOf = async (pid: number): Promise<number[]> => {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=']);
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child = 0, parent]) => (parent === pid ? [child] : []));
};

/** Signals a process, which may have ended since it was seen. */
const signal = (pid: number, name: 'SIGSTOP' | 'SIGCONT') => {
  try {
    process.kill(pid, name);
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')) throw thrown;
  }
};

/** Makes a file the server's own. */
export const giveToServer = async (path: string) => {
  if (nobody.uid !== undefined) await chown(path, nobody.uid, nobody.gid);
};

const newFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-postgres-'));
  await giveToServer(folder);
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
        ...nobody,
        env: { ...process.env, LC_ALL: 'C' },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      child = started;
      exited = once(started, 'exit');
      let said = '';
      await new Promise<void>((resolve, reject) => {
        started.stderr.setEncoding('utf8').on('data', (text: string) => {
          said += text;
          if (/ready to accept (read-only )?connections/.test(text)) resolve();
        });
        started.once('exit', () => reject(new Error(said)));
      });
    },
    async stop(how = 'SIGINT') {
      child?.kill(how);
      await exited;
    },
    async signalAll(name) {
      const pid = child?.pid;
      if (pid === undefined) return;
      // The postmaster is frozen first and thawed last, so that no process escapes.
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

/** Makes a new cluster and starts it; `settings` are lines of postgresql.conf. */
export const startPostgres = async (settings = ''): Promise<PostgresServer> => {
  const bin = await postgresBinaries();
  const folder = await newFolder();
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, superuserPassword);
  await giveToServer(passwordFile);
  const data = join(folder, 'data');
  const how = ['--auth=scram-sha-256', '--username=postgres', `--pwfile=${passwordFile}`];
  const where = ['--encoding=UTF8', '--locale=C', '--no-sync', `--pgdata=${data}`];
  await run(join(bin, 'initdb'), [...how, ...where], { ...nobody, cwd: folder });
  await appendFile(join(data, 'postgresql.conf'), `\nmax_connections = 100\n${settings}\n`);
  const server = controlOf(bin, folder, await freePort());
  await server.start();
  return server;
};

/** A standby of a server that is stopped: a copy of its files that only reads. */
export const startStandbyOf = async (stopped: PostgresServer): Promise<PostgresServer> => {
  const folder = await newFolder();
  const data = join(folder, 'data');
  await cp(join(stopped.folder, 'data'), data, { recursive: true });
  await writeFile(join(data, 'standby.signal'), '');
  if (nobody.uid !== undefined) await run('chown', ['-R', `${nobody.uid}:${nobody.gid}`, data]);
  const server = controlOf(await postgresBinaries(), folder, await freePort());
  await server.start();
  return server;
};
