import { writeFile } from 'node:fs/promises';
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
import { rereadMessage } from '../log/log-messages.ts';
import { newFolder } from '../../test/run-in-folder.ts';

/** Starts a server with a file of tokens, and returns its reload and what that logs. */
const startWith = async (text: string, tls?: Certificate) => {
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
  return { logged, reload: createReload({ settings, accept() {}, server, log }) };
};

it(
  'reloads run one after another, so that the last one is the newest',
  requiresOpenssl,
  async () => {
    const { logged, reload } = await startWith('one\n', await makeCertificate());
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
