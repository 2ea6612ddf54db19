import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryRepository } from '@plantstore/core';
import { hasOpenssl, makeCertificate } from '@plantstore/test-support/certificate';
import { expect, it, onTestFinished } from 'vitest';
import { recordLog, until } from '../../../test/record-log.ts';
import { startServer } from '../../node/start-server.ts';
import { createReload } from './reload.ts';
import { createTokenSet } from './token-set.ts';

it.runIf(hasOpenssl)(
  'reloads run one after another, so that the last one is the newest',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
    onTestFinished(async () => rm(folder, { recursive: true }));
    const inFolder = (name: string) => join(folder, name);
    const [tokensFile, tlsCert, tlsKey] = [inFolder('tokens'), inFolder('cert'), inFolder('key')];
    const tls = await makeCertificate();
    await writeFile(tokensFile, 'one\n');
    await writeFile(tlsCert, tls.cert);
    await writeFile(tlsKey, tls.key);
    const tokens = createTokenSet([]);
    const started = await startServer({
      repository: createMemoryRepository(),
      authenticate: tokens.authenticate,
      port: 0,
      tls,
    });
    if (started.kind !== 'running') throw new Error(started.message);
    const { server } = started;
    onTestFinished(async () => server.close(0));
    const { logged, logger: log } = recordLog();
    const settings = { tokensFile, tokens: undefined, tlsCert, tlsKey };
    const reload = createReload({ settings, tokens, server, log });
    for (let count = 0; count < 5; count += 1) reload();
    await until(() => logged.length === 10);
    const once = ['the tokens were reread', 'the certificate was reread'];
    expect(logged.map(({ message }) => message)).toEqual(
      Array.from({ length: 5 }, () => once).flat(),
    );
  },
);

it('a reload names the tokens that have expired', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const tokensFile = join(folder, 'tokens');
  await writeFile(tokensFile, 'one\ntwo name=former until=2020-01-31\n');
  const tokens = createTokenSet([]);
  const started = await startServer({
    repository: createMemoryRepository(),
    authenticate: tokens.authenticate,
    port: 0,
  });
  if (started.kind !== 'running') throw new Error(started.message);
  const { server } = started;
  onTestFinished(async () => server.close(0));
  const { logged, logger: log } = recordLog();
  const settings = { tokensFile, tokens: undefined, tlsCert: undefined, tlsKey: undefined };
  createReload({ settings, tokens, server, log })();
  await until(() => logged.length === 2);
  expect(JSON.stringify(logged[1])).toContain('former');
});
