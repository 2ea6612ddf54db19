import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@plantstore/client';
import { expect, it, onTestFinished } from 'vitest';

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const condition = '--conditions=@plantstore/source';

const newFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  return folder;
};

/** The bundled host on a file, and a client of it. */
const startHost = async (folder: string) => {
  const host = spawn(process.execPath, [condition, fileOf('../packages/server/src/bin.ts')], {
    env: {
      PLANTSTORE_PORT: '0',
      PLANTSTORE_TOKENS: 'example',
      PLANTSTORE_DATABASE: `sqlite:${join(folder, 'plants.db')}`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    host.kill();
    await once(host, 'close');
  });
  const [line] = (await once(host.stdout.setEncoding('utf8'), 'data')) as [string];
  host.stdout.resume();
  const { url } = JSON.parse(line.split('\n')[0] ?? '') as { url: string };
  return url.replace(/\/plants$/, '');
};

/** Runs the example to its end, or kills it at its first line of progress. */
const importFile = async (baseUrl: string, file: string, fate: 'ends' | 'is killed' = 'ends') => {
  const child = spawn(process.execPath, [condition, fileOf('import-ndjson.ts'), file], {
    env: { PLANTSTORE_URL: baseUrl, PLANTSTORE_TOKEN: 'example' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
    if (fate === 'is killed' && output.stdout.includes('[#')) child.kill('SIGKILL');
  });
  const [status] = (await once(child, 'close')) as [number | null];
  return { ...output, status };
};

const many = Array.from({ length: 5_000 }, (_, index) => ({
  id: 2n ** 62n + BigInt(index),
  name: `plant ${index}`,
}));
const lineOf = ({ id, name }: { id: bigint; name: string }) => `{"id":${id},"name":"${name}"}`;

it('import-ndjson.ts goes on after it was killed, when it is run again', async () => {
  const folder = await newFolder();
  const baseUrl = await startHost(folder);
  const file = join(folder, 'plants.ndjson');
  await writeFile(file, many.map(lineOf).join('\n'));
  const killed = await importFile(baseUrl, file, 'is killed');
  expect(killed.status).toBeNull();
  expect(killed.stdout).not.toContain('[##########]');
  const { status, stdout, stderr } = await importFile(baseUrl, file);
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout.split('\n').slice(-3)).toEqual([
    '[##########] 5000 created, 0 refused',
    '5000 created, 0 refused',
    '',
  ]);
  const client = createClient({ baseUrl, token: 'example' });
  for (const { id, name } of [many[0]!, many[2_500]!, many[4_999]!]) {
    expect((await client.createPlant({ id, name })).isOk()).toBe(true);
    expect((await client.createPlant({ id, name: 'another' })).isErr()).toBe(true);
  }
});

it('import-ndjson.ts reports refused lines by their numbers, and goes on', async () => {
  const folder = await newFolder();
  const baseUrl = await startHost(folder);
  const file = join(folder, 'plants.ndjson');
  const lines = [
    '{"id":9007199254740993,"name":"odd"}\r',
    '{"id":9007199254740992,"name":"even \u2028 🪴"}',
    '',
    '{"id":9007199254740993,"name":"another"}',
    '{"id":-9223372036854775808,"name":"least"',
    '{"id":9223372036854775808,"tag":7}',
    '\u{fffe}',
    '{"id":9223372036854775807,"name":"most"}',
  ];
  // A byte that UTF-8 does not have, where a decoder that mends would make a name of it.
  const noText = [Buffer.from('\n{"id":1,"name":"'), Buffer.of(0xff), Buffer.from('"}')];
  await writeFile(file, Buffer.concat([Buffer.from(lines.join('\n')), ...noText]));
  const { status, stdout, stderr } = await importFile(baseUrl, file);
  expect(stderr.trimEnd().split('\n').toSorted()).toEqual([
    'line 4: another plant has this id',
    expect.stringMatching(/^line 5: .*JSON/),
    expect.stringMatching(/^line 6: id .*; name .*; tag /),
    expect.stringMatching(/^line 7: .*JSON/),
    expect.stringMatching(/^line 9: .*UTF-8/),
  ]);
  expect([status, stdout.trimEnd().split('\n').at(-1)]).toEqual([1, '3 created, 5 refused']);
  const client = createClient({ baseUrl, token: 'example' });
  const most = await client.createPlant({ id: 2n ** 63n - 1n, name: 'most' });
  expect(most.isOk()).toBe(true);
});

it('import-ndjson.ts stops where the store cannot be reached, and says so', async () => {
  const file = join(await newFolder(), 'plants.ndjson');
  await writeFile(file, many.map(lineOf).join('\n'));
  const { status, stderr } = await importFile('http://127.0.0.1:9', file);
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/^stopped at line \d+: .*; run it again to go on\n$/),
  ]);
});

it('import-ndjson.ts takes what is piped into it, whose size nobody knows', async () => {
  const baseUrl = await startHost(await newFolder());
  // A shell has the pipe that /dev/stdin needs; a child process here would have a socket.
  const command = `echo '{"id":1,"name":"a"}' | "$0" ${condition} "$1" /dev/stdin`;
  const child = spawn('sh', ['-c', command, process.execPath, fileOf('import-ndjson.ts')], {
    env: { ...process.env, PLANTSTORE_URL: baseUrl, PLANTSTORE_TOKEN: 'example' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdout.resume();
  const [status] = (await once(child, 'close')) as [number | null];
  expect([status, stderr]).toEqual([0, '']);
});
