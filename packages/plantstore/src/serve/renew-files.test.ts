import { appendFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMemoryRepository } from '@plantstore/core';
import {
  type Certificate,
  requiresOpenssl,
  makeCertificate,
} from '@plantstore/test-support/certificate';
import { expect, it, onTestFinished, vi } from 'vitest';
import { recordLog, until } from '@plantstore/test-support/record-log';
import { startServer } from '@plantstore/server';
import { renewFiles } from './renew-files.ts';
import type { TokenSet } from '../settings/token-set.ts';
import { notRereadMessage, rereadMessage } from './log-messages.ts';
import { newFolder } from '../../test/run-in-folder.ts';

/** Starts a server with a file of tokens, and returns its reload and what that logs. */
const startWith = async (
  text: string,
  { tls, intervalMs = 2 ** 30 }: { tls?: Certificate; intervalMs?: number } = {},
) => {
  const folder = await newFolder();
  const write = async (name: string, content: string) => {
    await writeFile(join(folder, name), content);
    return join(folder, name);
  };
  const started = await startServer({
    repository: createMemoryRepository(),
    authenticate: () => false,
    port: 0,
    ...(tls && { tls }),
  });
  if (started.isErr()) throw new Error(started.error.message);
  const server = started.value;
  onTestFinished(async () => server.close(0));
  const { logged, logger: log } = recordLog();
  const settings = {
    tokensFile: await write('tokens', text),
    tokens: undefined,
    tlsCert: tls && (await write('cert', tls.cert)),
    tlsKey: tls && (await write('key', tls.key)),
  };
  const accepted: number[] = [];
  const accept = ({ entries }: TokenSet) => void accepted.push(entries.length);
  const stopped = new AbortController();
  onTestFinished(() => stopped.abort());
  const { signal } = stopped;
  const running = Promise.resolve(server);
  const reload = renewFiles({ settings, accept, server: running, log, signal, intervalMs });
  return { logged, accepted, settings, reload };
};

it('reloads that are asked for at the same time read a file once', async () => {
  const { logged, reload } = await startWith('one\n');
  for (let count = 0; count < 5; count += 1) reload();
  await until(() => logged.length > 0);
  reload();
  await until(() => logged.length > 1);
  // More reloads would be logged within this time.
  await sleep(100);
  expect(logged).toHaveLength(2);
});

it('a reload logs a fault of the file in any case, without its tokens', async () => {
  const { logged, reload, settings } = await startWith('one\n');
  await writeFile(settings.tokensFile, 's3cr3t\nan0ther s3cr3t\n');
  for (const count of [1, 2]) {
    reload();
    await until(() => logged.length === count);
  }
  expect(logged.map(({ message }) => message)).toEqual([notRereadMessage, notRereadMessage]);
  expect(JSON.stringify(logged)).toContain('line 2 must be a token');
  expect(JSON.stringify(logged)).not.toMatch(/s3cr3t|an0ther/);
});

/** Replaces a file at once, so that no look finds a part of it. */
const replace = async (path: string, text: string) => {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
};

/** Repeats a change until it is noticed: what changes before the first look is no change. */
const untilNoticed = async (change: () => Promise<void>, isNoticed: () => boolean) => {
  for (; !isNoticed(); await sleep(10)) await change();
};

const link = async (target: string, path: string) => {
  await symlink(target, `${path}.new`);
  await rename(`${path}.new`, path);
};

it('a tokens file is reread when it is written, replaced, or behind a link that is swapped', async () => {
  const { logged, accepted, settings } = await startWith('one\n', { intervalMs: 1 });
  const { tokensFile } = settings;
  const data = `${tokensFile}-data`;
  const makeFolder = async (name: string, text: string) => {
    await mkdir(`${data}-${name}`);
    await writeFile(join(`${data}-${name}`, 'tokens'), text);
    await link(`${data}-${name}`, data);
  };
  const steps = [
    async () => appendFile(tokensFile, 'three\n'),
    // As Kubernetes does: the file is a link through a link to a folder, which is swapped.
    async () => {
      await makeFolder('1', '1\n2\n3\n4\n');
      await link(join(data, 'tokens'), tokensFile);
    },
    async () => makeFolder('2', '1\n2\n3\n4\n5\n'),
  ];
  await untilNoticed(
    async () => replace(tokensFile, 'one\ntwo\n'),
    () => accepted.includes(2),
  );
  for (const [index, step] of steps.entries()) {
    await step();
    await until(() => accepted.includes(index + 3));
  }
  expect([...new Set(accepted)]).toEqual([2, 3, 4, 5]);
  expect(new Set(logged.map(({ message }) => message))).toEqual(new Set([rereadMessage]));
});

it('a changed file that cannot be used is logged once for each change, and the old tokens stay', async () => {
  const { logged, accepted, settings } = await startWith('one\n', { intervalMs: 1 });
  const change = async () => replace(settings.tokensFile, 'not a token\n');
  await untilNoticed(change, () => logged.length === 1);
  await rm(settings.tokensFile);
  await until(() => logged.length === 2);
  expect(accepted).toEqual([]);
  await replace(settings.tokensFile, 'one\ntwo\n');
  // The look after a fault and the change of the file may both find it.
  await until(() => accepted.length > 0);
  expect(logged.slice(0, 3).map(({ message }) => message)).toEqual([
    notRereadMessage,
    notRereadMessage,
    rereadMessage,
  ]);
  expect(new Set(accepted)).toEqual(new Set([2]));
});

it('a file that could not be used is reread once after the interval, also if no change of it is noticed', async () => {
  const { logged, accepted, settings, reload } = await startWith('not a token\n');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  for (const count of [1, 2]) {
    reload();
    await until(() => logged.length === count);
    expect(vi.getTimerCount()).toBe(1);
  }
  await replace(settings.tokensFile, 'one\ntwo\n');
  vi.advanceTimersToNextTimer();
  await until(() => logged.length > 2);
  expect(accepted).toEqual([2]);
});

it(
  'a certificate that is replaced before its key is used once the key fits, and the tokens are not reread',
  requiresOpenssl,
  async () => {
    const { logged, accepted, settings } = await startWith('one\n', {
      tls: await makeCertificate(),
      intervalMs: 1,
    });
    const { cert, key } = await makeCertificate();
    const change = async () => replace(String(settings.tlsCert), cert);
    await untilNoticed(change, () => logged.length === 1);
    await replace(String(settings.tlsKey), key);
    await until(() => logged.length > 1);
    expect(logged.slice(0, 2).map(({ message }) => message)).toEqual([
      'the certificate could not be reread; the previous one stays in use',
      'the certificate was reread',
    ]);
    expect(accepted).toEqual([]);
  },
);
