import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { beginPost } from './begin-post.ts';
import {
  newFolder,
  type RunningProgram,
  startProgram,
  untilLogged,
  untilOutput,
} from './program.ts';
import {
  rereadMessage,
  stoppingMessage,
} from '../../packages/plantstore/src/serve/log-messages.ts';

const serverWithFile = async (text: string) => {
  const path = join(await newFolder(), 'tokens');
  await writeFile(path, text);
  const args = ['--tokens-file', path];
  return { path, server: await startProgram({ args, env: { PLANTSTORE_TOKENS: '' } }) };
};

const statusWith = async ({ url }: RunningProgram, token: string) => {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: '{"id":7,"name":"x"}' });
  await response.arrayBuffer();
  return response.status;
};

const occurrences = (text: string, part: string) => text.split(part).length - 1;

/** Sends SIGHUP and waits for a log message. */
const hangUp = async (server: RunningProgram, message: string) => {
  const before = occurrences(server.stdout(), message);
  server.process.kill('SIGHUP');
  await untilOutput(server, (log) => occurrences(log, message) > before);
};

describe('SIGHUP', () => {
  it('SIGHUP replaces the tokens without affecting requests in flight', async () => {
    const { server, path } = await serverWithFile('0ld\nb0th\n');
    const inFlight = await beginPost(server, '{"id":7,"name":"x"}', '0ld');
    expect(
      await Promise.all(['0ld', 'b0th', 'n3w'].map(async (t) => statusWith(server, t))),
    ).toEqual([200, 200, 401]);
    await writeFile(path, 'b0th\nn3w\n');
    await hangUp(server, rereadMessage);
    expect(
      await Promise.all(['0ld', 'b0th', 'n3w'].map(async (t) => statusWith(server, t))),
    ).toEqual([401, 200, 200]);
    expect(await inFlight.status()).toBe(200);
  });

  it('SIGHUP does not end a server during a graceful shutdown', async () => {
    const { server } = await serverWithFile('s3cr3t\n');
    const inFlight = await beginPost(server, '{"id":7,"name":"x"}', 's3cr3t');
    server.process.kill('SIGTERM');
    await untilLogged(server, stoppingMessage);
    for (let count = 0; count < 3; count += 1) server.process.kill('SIGHUP');
    expect(await inFlight.status()).toBe(200);
    expect(await server.exited).toBe(0);
  });
});
