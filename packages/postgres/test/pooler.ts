import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@plantstore/test-support/free-port';
import {
  changeOwner,
  unprivilegedUser,
  superuserPassword,
} from '@plantstore/test-support/postgres-server';
import { inject, onTestFinished } from 'vitest';

const program = process.env['PLANTSTORE_PGBOUNCER'] ?? 'pgbouncer';
/** Minor version of pgbouncer 1; `undefined` if it is not installed. */
export const poolerVersion = await promisify(execFile)(program, ['--version']).then(
  ({ stdout }) => /PgBouncer 1\.(\d+)/.exec(stdout)?.[1],
  () => undefined,
);

/** Starts pgbouncer, by default in transaction mode. */
export const startPooler = async (setting: string, connections = 2) => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-pgbouncer-'));
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(
    file,
    `[databases]
* = host=127.0.0.1 port=${inject('postgresPort')} user=postgres password='${superuserPassword}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = any
pool_mode = transaction
default_pool_size = ${connections}
${setting}
unix_socket_dir =
`,
  );
  await changeOwner(folder);
  await changeOwner(file);
  const pooler = spawn(program, [file], {
    ...unprivilegedUser,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(async () => {
    pooler.kill();
    if (pooler.exitCode === null) await once(pooler, 'exit');
    await rm(folder, { recursive: true });
  });
  let output = '';
  pooler.stderr.setEncoding('utf8');
  while (!output.includes('process up')) {
    const [text] = (await once(pooler.stderr, 'data')) as [string];
    output += text;
  }
  return port;
};
