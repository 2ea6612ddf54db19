import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '@plantstore/test-support/free-port';
import { changeOwner, unprivilegedUser } from '@plantstore/test-support/postgres-server';
import type { Cleanup } from '../black-box/program.ts';
import type { Programs } from './debian-programs.ts';
import { killNode, processesOf, signal } from './node-processes.ts';
import { type Node, type Passwords, settingsOf } from './patroni-settings.ts';

const run = promisify(execFile);

/** Roles of the members, as Patroni reports them. */
export type Roles = {
  readonly leader: Node | undefined;
  /** The synchronous standby, the only one that Patroni may promote. */
  readonly synchronous: Node | undefined;
};

/** A cluster of three members. */
export type PatroniCluster = Awaited<ReturnType<typeof createPatroniCluster>>;

type Member = { readonly name: string; readonly role: string };

/** Ends the processes of a node, and lets PostgreSQL release its shared memory. */
const endNode = async (folder: string): Promise<void> => {
  const processes = await processesOf(folder);
  const isPostmaster = ({ args }: { args: string }) => args.includes(' -D ');
  signal(
    processes.filter((one) => !isPostmaster(one) && one.args.includes(folder)),
    'SIGKILL',
  );
  signal(processes.filter(isPostmaster), 'SIGQUIT');
  signal(processes, 'SIGCONT');
  for (let tries = 0; tries < 100 && (await processesOf(folder)).length > 0; tries += 1) {
    await sleep(50);
  }
  await killNode(folder);
};

/** Prepares three members. The cleanup ends every process and removes every file. */
export const createPatroniCluster = async (programs: Programs, cleanup: Cleanup) => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-failover-'));
  await changeOwner(folder);
  const passwords: Passwords = {
    postgres: randomBytes(16).toString('hex'),
    replicator: randomBytes(16).toString('hex'),
  };
  const [etcdPort, peerPort] = [await freePort(), await freePort()];
  const nodes: Node[] = [];
  for (const name of ['node1', 'node2', 'node3']) {
    const ports = { postgresPort: await freePort(), patroniPort: await freePort() };
    nodes.push({ name, folder: join(folder, name), ...ports });
  }

  let isClosed = false;
  cleanup(async () => {
    isClosed = true;
    await Promise.all(nodes.map(async (node) => endNode(node.folder)));
    await killNode(folder);
    await rm(folder, { recursive: true, force: true });
  });

  const launch = (program: string, args: readonly string[], workingFolder: string) => {
    if (isClosed) throw new Error('the cluster is closed');
    const log = openSync(join(workingFolder, 'log'), 'a');
    const child = spawn(program, args, {
      ...unprivilegedUser,
      cwd: workingFolder,
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
      stdio: ['ignore', log, log],
    });
    child.on('error', () => {});
    closeSync(log);
  };

  const cluster = {
    nodes,
    /** Starts etcd and the members. */
    async startAll(): Promise<void> {
      const etcdUrl = `http://127.0.0.1:${etcdPort}`;
      const peerUrl = `http://127.0.0.1:${peerPort}`;
      const settings = {
        'listen-client-urls': etcdUrl,
        'advertise-client-urls': etcdUrl,
        'listen-peer-urls': peerUrl,
        'initial-advertise-peer-urls': peerUrl,
        'initial-cluster': `default=${peerUrl}`,
        'data-dir': join(folder, 'etcd'),
        'enable-v2': 'true',
      };
      const args = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
      launch(programs.etcd, args, folder);
      while (!(await fetch(`${etcdUrl}/version`).then(Boolean, () => false))) await sleep(100);
      for (const node of nodes) {
        await mkdir(node.folder);
        const file = join(node.folder, 'patroni.json');
        const text = settingsOf(node, etcdPort, passwords, programs);
        await writeFile(file, text, { mode: 0o600 });
        await changeOwner(node.folder);
        await changeOwner(file);
        await cluster.start(node);
      }
    },
    /** Starts a member, also one that was killed. */
    async start(node: Node): Promise<void> {
      // The process id in the file may belong to another process now.
      await rm(join(node.folder, 'data/postmaster.pid'), { force: true });
      launch(programs.patroni, [join(node.folder, 'patroni.json')], node.folder);
    },
    async roles(): Promise<Roles> {
      const members = await Promise.any(
        nodes.map(async ({ patroniPort }) => {
          const response = await fetch(`http://127.0.0.1:${patroniPort}/cluster`, {
            signal: AbortSignal.timeout(2_000),
          });
          return ((await response.json()) as { members: Member[] }).members;
        }),
      ).catch(() => []);
      const nodeWithRole = (role: string) =>
        nodes.find(({ name }) => members.some((one) => one.name === name && one.role === role));
      return { leader: nodeWithRole('leader'), synchronous: nodeWithRole('sync_standby') };
    },
    /** Waits until both standbys replicate from the leader, and one is synchronous. */
    async healthy(): Promise<{ leader: Node; synchronous: Node }> {
      for (;;) {
        const { leader, synchronous } = await cluster.roles();
        if (leader !== undefined && synchronous !== undefined) {
          const following = `SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'`;
          const found = await cluster.sql(leader, following).catch(() => '');
          if (found === '2') return { leader, synchronous };
        }
        await sleep(200);
      }
    },
    /** Runs SQL on a member, and returns the output of psql. */
    async sql({ postgresPort }: Node, statement: string, database = 'postgres'): Promise<string> {
      const { stdout } = await run(
        join(dirname(programs.postgres), 'psql'),
        ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-c', statement],
        {
          env: {
            PGHOST: '127.0.0.1',
            PGPORT: String(postgresPort),
            PGUSER: 'postgres',
            PGPASSWORD: passwords.postgres,
            PGDATABASE: database,
            PGCONNECT_TIMEOUT: '5',
          },
          maxBuffer: 512 * 1_024 * 1_024,
        },
      );
      return stdout.trimEnd();
    },
    /** Returns the last log lines of every member, without passwords. */
    async logs(): Promise<string> {
      const logs = await Promise.all(
        nodes.map(async (node) => {
          const log = await readFile(join(node.folder, 'log'), 'utf8').catch(() => '');
          // Without the iterations of Patroni that changed nothing, and the output of pg_controldata.
          const lines = log.split('\n').filter((line) => !/no action\. I am|^ {2}\S/.test(line));
          return `--- ${node.name}\n${lines.slice(-60).join('\n')}`;
        }),
      );
      return Object.values(passwords).reduce(
        (text, password) => text.replaceAll(password, '…'),
        logs.join('\n'),
      );
    },
  };

  return cluster;
};
