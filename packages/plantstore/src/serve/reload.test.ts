import { appendFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMemoryRepository } from '@plantstore/core';
import {
  type Certificate,
  requiresOpenssl,
  makeCertificate,
} from '@plantstore/test-support/certificate';
import { expect, it, onTestFinished } from 'vitest';
import { recordLog, until } from '@plantstore/test-support/record-log';
import { startServer } from '@plantstore/server';
import { createReload } from './reload.ts';
import type { TokenSet } from '../settings/token-set.ts';
import { notRereadMessage, rereadMessage } from '../log/log-messages.ts';
import { watchFiles } from './watched-files.ts';
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
  if (started.kind !== 'running') throw new Error(started.message);
  const { server } = started;
  onTestFinished(async () => server.close(0));
  const { logged, logger: log } = recordLog();
  const settings = {
    tokensFile: await write('tokens', text),
    tokens: undefined,
    tlsCert: tls && (await write('cert', tls.cert)),
    tlsKey: tls && (await write('key', tls.key)),
  };
  const files = {
    watchedTokens: watchFiles(settings.tokensFile),
    watchedTls: watchFiles(settings.tlsCert, settings.tlsKey),
  };
  await Promise.all([files.watchedTokens.markRead(), files.watchedTls.markRead()]);
  const accepted: number[] = [];
  const accept = ({ entries }: TokenSet) => void accepted.push(entries.length);
  const stopped = new AbortController();
  onTestFinished(() => stopped.abort());
  const { signal } = stopped;
  const reload = createReload({ ...files, settings, accept, server, log, signal, intervalMs });
  return { logged, accepted, settings, reload };
};

it(
  'reloads run one after another, so that the last one is the newest',
  requiresOpenssl,
  async () => {
    const { logged, reload } = await startWith('one\n', { tls: await makeCertificate() });
    for (let count = 0; count < 5; count += 1) reload();
    await until(() => logged.length === 10);
    const once = [rereadMessage, 'the certificate was reread'];
    expect(logged.map(({ message }) => message)).toEqual(
      Array.from({ length: 5 }, () => once).flat(),
    );
  },
);

it('a reload names the tokens that have expired', async () => {
  const { logged, reload } = await startWith('one\ntwo name=former until=2020-01-31\n');
  reload();
  await until(() => logged.length === 2);
  expect(JSON.stringify(logged[1])).toContain('former');
});

/** Replaces a file at once, so that no look finds a part of it. */
const replace = async (path: string, text: string) => {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
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
    async () => appendFile(tokensFile, 'two\n'),
    async () => replace(tokensFile, '1\n2\n3\n'),
    // As Kubernetes does: the file is a link through a link to a folder, which is swapped.
    async () => {
      await makeFolder('1', '1\n2\n3\n4\n');
      await link(join(data, 'tokens'), tokensFile);
    },
    async () => makeFolder('2', '1\n2\n3\n4\n5\n'),
  ];
  for (const [index, step] of steps.entries()) {
    await step();
    await until(() => logged.length === index + 1);
  }
  expect(accepted).toEqual([2, 3, 4, 5]);
  expect(logged.map(({ message }) => message)).toEqual(steps.map(() => rereadMessage));
});

it('a changed file that cannot be used is logged once for each change, and the old tokens stay', async () => {
  const { logged, accepted, settings } = await startWith('one\n', { intervalMs: 1 });
  await replace(settings.tokensFile, 'not a token\n');
  await until(() => logged.length === 1);
  await rm(settings.tokensFile);
  await until(() => logged.length === 2);
  expect(accepted).toEqual([]);
  await replace(settings.tokensFile, 'one\ntwo\n');
  await until(() => logged.length === 3);
  expect(logged.map(({ message }) => message)).toEqual([
    notRereadMessage,
    notRereadMessage,
    rereadMessage,
  ]);
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
    await replace(String(settings.tlsCert), cert);
    await until(() => logged.length === 1);
    await replace(String(settings.tlsKey), key);
    await until(() => logged.length === 2);
    expect(logged.map(({ message }) => message)).toEqual([
      'the certificate could not be reread; the previous one stays in use',
      'the certificate was reread',
    ]);
    expect(accepted).toEqual([]);
  },
);

it('a change is noticed once the file has stayed the same between two looks, unless it was read since', async () => {
  const path = join(await newFolder(), 'tokens');
  const files = watchFiles(path);
  await files.markRead();
  const looks = async (count: number) => {
    const results: boolean[] = [];
    while (results.length < count) results.push(await files.areRenewed());
    return results;
  };
  expect(await looks(3)).toEqual([false, false, false]);
  await writeFile(path, '1');
  expect(await looks(1)).toEqual([false]);
  await writeFile(path, '12');
  expect(await looks(3)).toEqual([false, true, true]);
  await files.markRead();
  expect(await looks(2)).toEqual([false, false]);
  // Read again without a change, because the reason may be gone.
  expect(await files.markFailed('too many open files')).toBe(true);
  expect(await looks(2)).toEqual([true, true]);
  await files.markRead();
  expect(await files.markFailed('too many open files')).toBe(false);
  await files.markRead();
  expect(await files.markFailed('the disk reports an error')).toBe(true);
  // Changed while it was read: the next look reads it again.
  await files.markRead();
  await writeFile(path, '123');
  expect(await files.markFailed('it is wrong')).toBe(false);
});

it('a file that cannot be used is reported again if it could be used since', async () => {
  const files = watchFiles(join(await newFolder(), 'tokens'));
  const isReported = async () => {
    await files.markRead();
    return files.markFailed('it does not exist');
  };
  expect([await isReported(), await isReported()]).toEqual([true, false]);
  await files.markRead();
  expect([await isReported(), await isReported()]).toEqual([true, false]);
});
