import { setTimeout as sleep } from 'node:timers/promises';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
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
  notRereadMessage,
  rereadMessage,
  stoppingMessage,
} from '../../packages/plantstore/src/serve/log-messages.ts';

const serverWithFile = async (text: string) => {
  const path = join(await newFolder(), 'tokens');
  await writeFile(path, text);
  const args = ['--database', 'memory:', '--tokens-file', path];
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

  it('SIGHUP keeps the tokens if the file is invalid, and logs why without a token', async () => {
    const { server, path } = await serverWithFile('s3cr3t\n');
    const failure = notRereadMessage;
    for (const text of ['', '# none\n', 's3cr3t\nan0ther s3cr3t\n']) {
      await writeFile(path, text);
      await hangUp(server, failure);
      expect(await statusWith(server, 's3cr3t')).toBe(200);
    }
    await rm(path);
    await hangUp(server, failure);
    expect(await statusWith(server, 's3cr3t')).toBe(200);
    expect(server.stdout()).toContain('it has no token; name a file with one token per line');
    expect(server.stdout()).toContain('line 2 must be a token');
    expect(server.stdout()).toContain('no such file or directory');
    expect(server.stdout()).not.toMatch(/s3cr3t|an0ther/);

    await writeFile(path, 'n3w\n');
    await hangUp(server, rereadMessage);
    expect(await statusWith(server, 's3cr3t')).toBe(401);
    expect(await statusWith(server, 'n3w')).toBe(200);
  });

  it('SIGHUP reads names and last days of tokens, and the log has the names instead of tokens', async () => {
    const { server, path } = await serverWithFile(
      's3cr3t name=greenhouse until=9999-12-30\nan0ther name=shed until=2020-01-31\n',
    );
    expect(await statusWith(server, 's3cr3t')).toBe(200);
    expect(await statusWith(server, 'an0ther')).toBe(401);
    await untilLogged(server, '"status":401');
    expect(server.stdout()).toMatch(/"status":200.*"tokenName":"greenhouse"/);
    expect(server.stdout()).toMatch(
      /"tokens of the file have expired and are rejected".*"names":"shed"/,
    );
    await writeFile(path, 's3cr3t name=greenhouse until=2020-01-31\nan0ther name=shed\n');
    await hangUp(server, rereadMessage);
    expect(await statusWith(server, 's3cr3t')).toBe(401);
    expect(await statusWith(server, 'an0ther')).toBe(200);
    await untilLogged(server, '"tokenName":"shed"');
    await writeFile(path, 's3cr3t name=greenhouse until=2020-02-31\n');
    await hangUp(server, notRereadMessage);
    expect(server.stdout()).toContain('line 1 must be a token');
    expect(server.stdout()).not.toMatch(/s3cr3t|an0ther/);
  });

  it('SIGHUP does not replace tokens of the environment, and logs that', async () => {
    const server = await startProgram({ args: ['--database', 'memory:'] });
    await hangUp(server, 'the tokens are from PLANTSTORE_TOKENS and stay');
  });

  it('SIGHUP that is sent many times reads the last version of the file', async () => {
    const { server, path } = await serverWithFile('0ld\n');
    for (let count = 0; count < 20; count += 1) server.process.kill('SIGHUP');
    await writeFile(path, 'n3w\n');
    await hangUp(server, rereadMessage);
    while ((await statusWith(server, 'n3w')) !== 200) await sleep(2);
    expect(await statusWith(server, '0ld')).toBe(401);
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

  it('SIGHUP does not end a server that is starting', async () => {
    // The process signals itself before it loads the first module of the server.
    const preload = `
      import { registerHooks } from 'node:module';
      let sent = false;
      registerHooks({ load(url, context, next) {
        if (!sent && url.endsWith('/main.ts')) { sent = true; process.kill(process.pid, 'SIGHUP'); }
        return next(url, context);
      } });`;
    const server = await startProgram({
      args: ['--database', 'memory:'],
      nodeArgs: ['--import', `data:text/javascript,${encodeURIComponent(preload)}`],
    });
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(0);
  });
});

it('the server replaces its tokens without a signal when a link on the path of the file is swapped', async () => {
  const folder = await newFolder();
  const link = async (name: string, text: string) => {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'tokens'), text);
    await symlink(name, join(folder, `${name}.link`));
    await rename(join(folder, `${name}.link`), join(folder, '..data'));
  };
  await link('one', '0ld\n');
  await symlink('..data/tokens', join(folder, 'tokens'));
  const args = ['--database', 'memory:', '--tokens-file', join(folder, 'tokens')];
  const server = await startProgram({ args, env: { PLANTSTORE_TOKENS: '' } });
  await link('two', 'n3w\n');
  await untilLogged(server, rereadMessage);
  expect(await Promise.all(['0ld', 'n3w'].map(async (t) => statusWith(server, t)))).toEqual([
    401, 200,
  ]);
});
