import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { connectSql } from '@plantstore/test-support/sql-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { insertsIn, monstera, openBehindProxy } from '../test/behind-proxy.ts';
import { open } from '../test/open.ts';
import { emptyDatabase, runSql, sharedUrl } from '../test/shared-postgres.ts';

describe('a failing create of PostgreSQL', () => {
  it('statements without a response are canceled but for the latest two, and their sockets are closed', async () => {
    const { repository, proxy, direct } = await openBehindProxy({
      statementTimeoutMs: 100,
      deadlineMs: 5_000,
    });
    const holder = await connectSql(direct);
    onTestFinished(async () => holder.end());
    await holder.query('BEGIN; LOCK TABLE plants');
    while (insertsIn(proxy) < 5) await repository.create(monstera);
    await repository.close();
    const running = async () => {
      const [row] = await runSql(
        direct,
        `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database()
          AND application_name = 'plantstore' AND state = 'active'`,
      );
      return row?.['count'];
    };
    await expect.poll(running).toBeLessThanOrEqual(2);
    await expect.poll(proxy.openConnections).toBe(0);
  });

  it('a create pauses between its attempts', async () => {
    const { repository, proxy } = await openBehindProxy({ deadlineMs: 2_000 });
    proxy.onStatement(({ text }) => (text.startsWith('INSERT') ? { error: '40001' } : 'pass'));
    expect((await repository.create(monstera)).isErr()).toBe(true);
    // The pauses double from 12 to 25 ms; without them, there are hundreds of attempts.
    expect(insertsIn(proxy)).toBeLessThan(20);
  });

  it('creates and checks that share the only connection do not connect again each time', async () => {
    const { url, refuseOthers } = await startNarrowProxy(sharedUrl(await emptyDatabase()));
    const repository = await open(url);
    const refused = refuseOthers();
    const rounds = 100;
    for (let round = 0; round < rounds; round += 1) {
      const creating = repository.create({ id: BigInt(round), name: 'Monstera' });
      const results = await Promise.all([creating, repository.check()]);
      expect(results.every((one) => one.isOk())).toBe(true);
    }
    expect(refused()).toBeGreaterThan(0);
    expect(refused()).toBeLessThan(rounds / 2);
  });
});

/** Starts a proxy that closes new connections once `refuseOthers` is called, which returns a function that counts them. */
async function startNarrowProxy(direct: string) {
  let refused: number | undefined;
  const server = createServer((client) => {
    client.on('error', () => {});
    if (refused !== undefined) {
      refused += 1;
      client.destroy();
      return;
    }
    const upstream = connect(Number(new URL(direct).port), '127.0.0.1');
    client.on('close', () => upstream.destroy());
    upstream.on('error', () => {}).pipe(client);
    client.pipe(upstream);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = new URL(direct);
  url.port = String((server.address() as AddressInfo).port);
  const refuseOthers = () => {
    refused = 0;
    return () => refused;
  };
  return { url: url.href, refuseOthers };
}
