import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bin, neededVariables, newFolder, post, startProgram } from './program.ts';
import { runCommand, writePlants } from './run-command.ts';

const run = promisify(execFile);

describe('export and import', () => {
  it('export and import keep every plant as it is', async () => {
    const cwd = await newFolder();
    // Several chunks of 64 KiB.
    const text = await writePlants(join(cwd, 'in.ndjson'), 6_000);
    const imported = await runCommand(['import', 'in.ndjson'], { cwd });
    expect(imported).toEqual({
      status: 0,
      stdout: '6000 plants created, 0 already there, 0 refused\n',
      stderr: '',
    });
    const exported = await runCommand(['export'], { cwd });
    expect(exported).toEqual({ status: 0, stdout: text, stderr: '6000 plants exported\n' });
  });

  it('export writes the plants while a server runs, and import refuses to run then', async () => {
    const cwd = await newFolder();
    const server = await startProgram({ args: ['--database', `sqlite:${join(cwd, 'plants.db')}`] });
    for (const id of [1, 2]) await post(server.url, `{"id":${id},"name":"a"}`);
    expect((await runCommand(['export'], { cwd })).stdout).toBe(
      '{"id":1,"name":"a"}\n{"id":2,"name":"a"}\n',
    );
    const imported = await runCommand(['import'], { cwd, stdin: '{"id":5,"name":"a"}' });
    expect(imported.status).toBe(1);
    expect(imported.stderr).toMatch(/cannot open the database .*is in use/);
  });
});

describe('backup and restore', () => {
  it('backup copies the plants of a running server, and restore creates a database of them once the old one is moved away', async () => {
    const cwd = await newFolder();
    const server = await startProgram({ args: ['--database', `sqlite:${join(cwd, 'plants.db')}`] });
    await post(server.url, '{"id":1,"name":"a"}');
    expect(await runCommand(['backup', 'b.db'], { cwd })).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^b\.db: 1 plant, \d+ bytes, checked\n$/),
      stderr: '',
    });
    await post(server.url, '{"id":2,"name":"b"}');
    const taken = await runCommand(['backup', 'b.db'], { cwd });
    expect(taken.status).toBe(1);
    expect(taken.stderr).toMatch(/b\.db already exists; name another file$/m);

    const refused = await runCommand(['restore', 'b.db'], { cwd });
    const path = await realpath(join(cwd, 'plants.db'));
    const advice = `mkdir elsewhere && mv '${path}'* elsewhere/`;
    expect([refused.status, refused.stderr]).toEqual([
      1,
      `plantstore: ${path} already exists; name another file, or stop the server that has it open, and move it with the files beside it to a new folder: ${advice}\n`,
    ]);
    server.process.kill('SIGKILL');
    await server.exited;
    expect((await stat(`${path}-wal`)).size).toBeGreaterThan(0);
    await run('sh', ['-c', advice], { cwd });
    expect(await runCommand(['restore', 'b.db'], { cwd })).toEqual({
      status: 0,
      stdout: 'plants.db: 1 plant, checked\n',
      stderr: '',
    });
    // Followed again, the advice would replace the database that was moved first.
    await expect(run('sh', ['-c', advice], { cwd })).rejects.toThrow('File exists');
    expect((await runCommand(['export'], { cwd })).stdout).toBe('{"id":1,"name":"a"}\n');
    const moved = ['--database', 'sqlite:elsewhere/plants.db'];
    expect((await runCommand(['export', ...moved], { cwd })).stdout).toBe(
      '{"id":1,"name":"a"}\n{"id":2,"name":"b"}\n',
    );
    const again = await startProgram({ args: ['--database', `sqlite:${path}`] });
    expect((await post(again.url, '{"id":3,"name":"c"}')).status).toBe(200);
  });
});

it('a command names every refused line, also if its output is read after its work is done', async () => {
  const child = spawn(process.execPath, [bin, 'import'], {
    cwd: await newFolder(),
    env: { ...neededVariables(), PLANTSTORE_DATABASE: 'sqlite:plants.db' },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const refused = 5_000;
  child.stdin.end('{"id":1}\n'.repeat(refused));
  const exited = once(child, 'exit');
  const [summary] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  expect(summary).toBe(`0 plants created, 0 already there, ${refused} refused\n`);
  const named = (await textOf(child.stderr)).trimEnd().split('\n');
  expect(named.map((line) => line.split(':')[0])).toEqual(
    Array.from({ length: refused }, (_, index) => `line ${index + 1}`),
  );
  expect(await exited).toEqual([3, null]);
});
