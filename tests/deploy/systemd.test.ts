import { execFile, spawnSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '@plantstore/test-support/free-port';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it } from 'vitest';
import { bin, post, spawnProgram, token, untilOutput } from '../black-box/program.ts';

const run = promisify(execFile);

const root = fileURLToPath(new URL('../../', import.meta.url));
const units = join(root, 'deploy/systemd');

/** Path of the installed program in the units. */
const program = '/usr/local/bin/plantstore';

it('the systemd unit has an exposure level below 2', async () => {
  const unit = join(units, 'plantstore.service');
  const { stdout } = await run('systemd-analyze', ['security', '--offline=true', unit]);
  const [, exposure] =
    /Overall exposure level for plantstore\.service: ([\d.]+)/.exec(stdout) ?? [];
  expect(Number(exposure)).toBeLessThan(2);
});

it('systemd accepts each unit, and reports a wrong value', async () => {
  const folder = await makeFolder();
  const names = (await readdir(units)).filter((name) => name.startsWith('plantstore'));
  expect(names).toHaveLength(4);
  for (const name of names) {
    // The server may not be installed here.
    const unit = (await readFile(join(units, name), 'utf8')).replaceAll(program, process.execPath);
    await writeFile(join(folder, name), unit);
  }
  const verify = async () =>
    run('systemd-analyze', ['verify', '--man=no', ...names.map((name) => join(folder, name))]);
  expect((await verify()).stderr).not.toContain(folder);
  const service = join(folder, 'plantstore.service');
  const text = await readFile(service, 'utf8');
  expect(text).toContain('\nLimitCORE=0\n');
  await writeFile(service, text.replace('LimitCORE=0', 'LimitCORE=none'));
  expect((await verify()).stderr).toContain('none');
});

it('the unit stops the socket after the exit statuses 2 and 9 only', async () => {
  const folder = await makeFolder();
  await writeFile(join(folder, 'systemctl'), '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
  const unit = await readFile(join(units, 'plantstore.service'), 'utf8');
  const [, line = ''] = /^ExecStopPost=-\+\/bin\/sh -c '(.*)'$/m.exec(unit) ?? [];
  const stopPost = async (status: string) =>
    run('/bin/sh', ['-c', line.replaceAll('$$', '$')], {
      env: { PATH: folder, EXIT_STATUS: status },
    });
  for (const status of ['2', '9'])
    expect((await stopPost(status)).stdout).toBe('stop plantstore.socket\n');
  for (const status of ['0', '1', 'TERM']) expect((await stopPost(status)).stdout).toBe('');
});

it('systemd-socket-activate hands its socket over', async () => {
  const port = await freePort();
  const settings = ['PLANTSTORE_DATABASE=memory:', `PLANTSTORE_TOKENS=${token}`, 'PATH=/bin'];
  const options = [`--listen=127.0.0.1:${port}`, '--fdname=plantstore.socket'];
  const variables = settings.map((setting) => `--setenv=${setting}`);
  const command = ['systemd-socket-activate', ...options, ...variables] as const;
  const server = spawnProgram({ command: [...command, process.execPath, bin] });
  // Its first line is written once it listens. It starts the server at the first connection, which then waits.
  await untilOutput(server, (_, stderr) => stderr !== '');
  const url = `http://127.0.0.1:${port}/plants`;
  expect(await post(url, '{"id":7,"name":"Monstera"}')).toMatchObject({ status: 200 });
  server.process.kill('SIGTERM');
  expect(await server.exited).toBe(0);
  expect(server.stdout()).toContain(
    `"accepting plants on the handed-over socket (LISTEN_FDS)","url":"${url}"`,
  );
});

/** The shell command of the unit for backups, as systemd reads it. */
const backupCommand = async (): Promise<string> => {
  const unit = await readFile(join(units, 'plantstore-backup.service'), 'utf8');
  const [, line = ''] = /^ExecStart=\/bin\/sh -ec '(.*?)'$/ms.exec(unit) ?? [];
  return line.replaceAll('\\\n', '').replaceAll('%%', '%').replaceAll('$$', '$');
};

it('the backup unit keeps the newest copies, and removes nothing after a backup that failed', async () => {
  const folder = await makeFolder();
  const database = join(await makeFolder(), 'plants.db');
  const PLANTSTORE_DATABASE = `sqlite:${database}`;
  const settings = join(await makeFolder(), 'settings.env');
  await writeFile(settings, `PLANTSTORE_DATABASE=${PLANTSTORE_DATABASE}\n`);
  const command = (await backupCommand())
    .replace(program, `"${process.execPath}" "${bin}"`)
    .replace('/etc/plantstore/settings.env', settings);
  const others = ['plants-old.db', 'notes-20200101T000000Z.db', 'plants.db'];
  const old = Array.from({ length: 4 }, (_, day) => `plants-2020010${day + 1}T000000Z.db`);
  // As after a clock that was wrong.
  const future = 'plants-20990101T000000Z.db';
  for (const name of [...others, ...old, future]) await writeFile(join(folder, name), '');
  const backUp = async (env: Record<string, string>) =>
    run('/bin/sh', ['-ec', command], { cwd: folder, env: { PATH: '/usr/bin:/bin', ...env } });

  // There is no database.
  await expect(backUp({ KEEP: '1' })).rejects.toMatchObject({ code: 1 });
  expect((await readdir(folder)).toSorted()).toEqual([...others, ...old, future].toSorted());

  // An import of a plant creates the database.
  spawnSync(process.execPath, [bin, 'import'], {
    input: '{"id":7,"name":"Monstera"}\n',
    env: { PLANTSTORE_DATABASE },
  });
  await backUp({ KEEP: '3' });
  const kept = (await readdir(folder)).filter((name) => !others.includes(name)).toSorted();
  expect(kept).toEqual([old.at(-1), expect.stringMatching(/^plants-20\d{6}T\d{6}Z\.db$/), future]);

  // Its name could be that of the next copy.
  await rm(join(folder, String(kept[1])));
  await expect(backUp({ KEEP: 'x' })).rejects.toMatchObject({ code: 2 });
});
