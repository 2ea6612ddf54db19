import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectRaw, type RawConnection } from '@plantstore/test-support/raw-http';
import { describe, expect, it } from 'vitest';
import { type ProgramProcess, newFolder, startProgram, untilLogged } from './program.ts';
import { rereadMessage } from '../../packages/plantstore/src/serve/log-messages.ts';

const token = 'f0rget-me-after-reading';
const rotated = 'f0rget-me-after-rotating';
/** A string that the heap contains, as a positive control of the search. */
const kept = '/a-base-path-that-is-kept';

const parsed = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Returns arguments with which Node writes a heap snapshot with complete strings on SIGUSR2. */
const nodeArgsFor = (folder: string) => [
  '--heapsnapshot-signal=SIGUSR2',
  `--diagnostic-dir=${folder}`,
  '--heap-snapshot-string-limit=1000000',
];

/** Returns a heap snapshot, which has every reachable string. */
const heapOf = async (server: ProgramProcess, folder: string): Promise<string> => {
  server.process.kill('SIGUSR2');
  for (;;) {
    const name = (await readdir(folder)).find((one) => one.endsWith('.heapsnapshot'));
    const text = name === undefined ? '' : await readFile(join(folder, name), 'utf8');
    if (parsed(text)) return text;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

/** Returns, for each text, whether the heap of a server contains it. */
const heapHas = async (server: ProgramProcess, folder: string, ...texts: readonly string[]) => {
  const heap = await heapOf(server, folder);
  expect(heap).toContain(kept);
  return texts.map((text) => heap.includes(text));
};

/** Sends valid and invalid requests on a connection, and leaves it open. */
const createOn = async (port: number, bearer: string): Promise<RawConnection> => {
  const connection = await connectRaw(port);
  for (const id of [1, 2]) {
    const body = `{"id":${id},"name":"x"}`;
    const fields = [
      'Host: a',
      `Authorization: Bearer ${bearer}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    connection.socket.write(
      `POST ${kept}/plants HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${body}`,
    );
    await connection.until((text) => text.split('{"name":"x"}').length > id);
  }
  const invalidRequest = `POST ${kept}/plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${bearer}\r\n\r\n`;
  connection.socket.write(invalidRequest);
  await connection.until((text) => text.includes('"error":2415'));
  return connection;
};

const common = ['--database', 'memory:', '--base-path', kept];

describe('heap of the real server', () => {
  it('the heap of the real server does not contain a token of the tokens file, also after a rotation and requests', async () => {
    const folder = await newFolder();
    const file = join(folder, 'tokens');
    await writeFile(file, `# mine\n${token} name=a-name-of-a-token until=9999-12-30\n`);
    const server = await startProgram({
      args: [...common, '--tokens-file', file],
      env: { PLANTSTORE_TOKENS: 'n0t-used' },
      nodeArgs: nodeArgsFor(folder),
    });
    const first = await createOn(server.port, token);
    await writeFile(file, `${rotated} name=the-name-of-another-token\n`);
    server.process.kill('SIGHUP');
    await untilLogged(server, rereadMessage);
    const second = await createOn(server.port, rotated);
    expect(await heapHas(server, folder, token, rotated, 'n0t-used')).toEqual([
      false,
      false,
      false,
    ]);
    first.socket.destroy();
    second.socket.destroy();
  });

  it('the heap of the real server does not contain a token of the environment, or of the file of --env-file', async () => {
    for (const args of [[], ['--env-file', 'settings.env']]) {
      const folder = await newFolder();
      await writeFile(join(folder, 'settings.env'), `PLANTSTORE_TOKENS='another,${token}'\n`);
      const server = await startProgram({
        args: [...common, ...args],
        cwd: folder,
        env: { PLANTSTORE_TOKENS: args.length === 0 ? `another,${token}` : '' },
        nodeArgs: nodeArgsFor(folder),
      });
      const { socket } = await createOn(server.port, token);
      expect(await heapHas(server, folder, token)).toEqual([false]);
      socket.destroy();
    }
  });
});
