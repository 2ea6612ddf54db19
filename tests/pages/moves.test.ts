import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '@plantstore/test-support/free-port';
import { startPostgres } from '@plantstore/test-support/postgres-server';
import { connectSql } from '@plantstore/test-support/sql-client';
import { expect, it, onTestFinished } from 'vitest';
import { neededVariables, newFolder } from '../black-box/program.ts';
import { read, root as clone } from '../docs/pages.ts';
import { onMachine, program } from './machine.ts';

/** Stand-ins for the commands that this machine does not have. */
const commands = {
  systemctl: `"${process.execPath}" --no-warnings "${fileURLToPath(new URL('systemctl.ts', import.meta.url))}" "$@"`,
  runuser: 'shift 3; exec "$@"',
  chown: '',
  plantstore: `exec ${program.map((part) => `"${part}"`).join(' ')} "$@"`,
};

/** Creates a machine with the service, with its socket or without, and starts it. */
const newMachine = async ({ units = 'plantstore.socket plantstore', postgresPort = 0 } = {}) => {
  const root = await newFolder();
  const port = await freePort();
  const folders = ['bin', 'run', 'etc/plantstore', 'etc/systemd/system', 'var/lib/plantstore'];
  for (const folder of [...folders, 'var/lib/plantstore-backups']) {
    await mkdir(join(root, folder), { recursive: true });
  }
  for (const [name, script] of Object.entries(commands)) {
    await writeFile(join(root, 'bin', name), `#!/bin/bash\n${script}\n`, { mode: 0o755 });
  }
  await writeFile(join(root, 'etc/plantstore/tokens'), 'token\n');
  const settings = onMachine(read('deploy/systemd/settings.env'), { root, postgresPort });
  await writeFile(
    join(root, 'etc/plantstore/settings.env'),
    `${settings}PLANTSTORE_PORT=${port}\n`,
  );
  const env = {
    ...neededVariables(),
    PATH: `${root}/bin:${process.env['PATH']}`,
    MACHINE: root,
    MACHINE_POSTGRES_PORT: String(postgresPort),
  };
  const run = async (script: string) =>
    promisify(execFile)('bash', ['--norc', '-c', onMachine(script, { root, postgresPort })], {
      cwd: clone,
      env,
      maxBuffer: 2 ** 26,
    });
  const machine = {
    root,
    url: `http://127.0.0.1:${port}/plants`,
    run,
    /** Runs the block of commands of docs/operating.md that contains a text. */
    async runBlock(text: string) {
      const blocks = [...read('docs/operating.md').matchAll(/^```sh\n(.*?)^```$/gms)];
      const found = blocks.map(([, code = '']) => code).filter((code) => code.includes(text));
      expect(found).toHaveLength(1);
      const [code = ''] = found;
      // As on the page: without the socket, it is left out.
      await run(units.includes('.socket') ? code : code.replaceAll('plantstore.socket ', ''));
    },
  };
  for (const unit of units.split(' ')) {
    const file = unit.includes('.') ? unit : `${unit}.service`;
    await copyFile(join(clone, 'deploy/systemd', file), join(root, 'etc/systemd/system', file));
  }
  onTestFinished(async () => {
    await run('systemctl stop plantstore.socket plantstore plantstore@1 plantstore@2 || true');
  });
  await run(`systemctl start ${units}`);
  return machine;
};

/** Creates plants until it is stopped, each until it is acknowledged. Resolves to the ids of the acknowledged ones. */
const startLoad = (url: string) => {
  const acknowledged: number[] = [];
  let next = 0;
  const stopped = new AbortController();
  const client = async () => {
    for (let id = next++; !stopped.signal.aborted;) {
      const creating = fetch(url, {
        method: 'POST',
        headers: { Authorization: 'Bearer token', 'Content-Type': 'application/json' },
        body: JSON.stringify({ id, name: `plant ${id}` }),
        signal: AbortSignal.timeout(2_000),
      });
      if (await creating.then(({ ok }) => ok).catch(() => false)) {
        acknowledged.push(id);
        id = next++;
      }
      await sleep(50);
    }
  };
  const clients = Promise.all(Array.from({ length: 3 }, client));
  return {
    /** Waits until more plants are acknowledged. */
    async progress() {
      const target = acknowledged.length + 10;
      while (acknowledged.length < target) await sleep(10);
    },
    async stop() {
      stopped.abort();
      await clients;
      return acknowledged;
    },
  };
};

/** Expects that `export` prints every acknowledged plant of at least one of the databases. */
const expectStored = async (
  { run }: Awaited<ReturnType<typeof newMachine>>,
  acknowledged: readonly number[],
  ...databases: readonly string[]
) => {
  const stored = new Set<string | undefined>();
  for (const database of databases) {
    const { stdout } = await run(
      `PGPASSFILE=/etc/plantstore/pgpass plantstore export --database ${database}`,
    );
    for (const [, id] of stdout.matchAll(/^{"id":(\d+)/gm)) stored.add(id);
  }
  expect(acknowledged.filter((id) => !stored.has(String(id)))).toEqual([]);
};

const sqlite = 'sqlite:/var/lib/plantstore/plants.db';
const backup = '/var/lib/plantstore-backups/plants-20270131T031500Z.db';

it('the move to PostgreSQL and to several servers loses no acknowledged plant', async () => {
  const postgres = await startPostgres();
  onTestFinished(postgres.dispose);
  const sql = await connectSql(postgres.url());
  await sql.query("CREATE ROLE plantstore LOGIN PASSWORD 'secret'");
  await sql.query('CREATE DATABASE plantstore OWNER plantstore');
  await sql.end();
  const machine = await newMachine({ postgresPort: postgres.port });
  const load = startLoad(machine.url);
  await load.progress();
  await machine.runBlock('import --database postgres://');
  await load.progress();
  await machine.runBlock('plantstore@{1,2}');
  await load.progress();
  await expectStored(machine, await load.stop(), 'postgres://plantstore@localhost/plantstore');
});

it('two restores keep every acknowledged plant, in the database or in the folders of those before', async () => {
  const machine = await newMachine();
  const load = startLoad(machine.url);
  await load.progress();
  await machine.run(`plantstore backup --database ${sqlite} ${backup}`);
  await load.progress();
  await machine.runBlock('plantstore restore');
  await load.progress();
  await machine.runBlock('plantstore restore');
  await load.progress();
  const acknowledged = await load.stop();
  const before = globSync('var/lib/plantstore/before-*/plants.db', { cwd: machine.root });
  expect(before).toHaveLength(2);
  await expectStored(machine, acknowledged, sqlite, ...before.map((file) => `sqlite:/${file}`));
});

it('the move to another machine loses no acknowledged plant, without a socket unit', async () => {
  const units = 'plantstore';
  const [from, to] = [await newMachine({ units }), await newMachine({ units })];
  const load = startLoad(from.url);
  await load.progress();
  await from.runBlock('moved.db');
  await copyFile(join(from.root, 'var/lib/plantstore/moved.db'), join(to.root, backup));
  await to.runBlock('plantstore restore');
  // Clients that still use the old machine must be refused.
  await sleep(500);
  await expectStored(to, await load.stop(), sqlite);
});
