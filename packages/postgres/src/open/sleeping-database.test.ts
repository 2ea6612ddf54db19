import { once } from 'node:events';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { emptyDatabase, sharedUrl } from '../../test/shared-postgres.ts';
import { openAndClose } from '../../test/open.ts';
import { openPostgresRepository } from '../repository.ts';
import { readPlants } from '../read/read-plants.ts';

/** A server that accepts each connection, and starts to respond after a delay. */
const startSleeper = async (delayMs: number) => {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => {});
    client.pause();
    setTimeout(() => {
      if (client.destroyed) return;
      const upstream = connect(inject('postgresPort'), '127.0.0.1');
      sockets.add(upstream);
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        from.on('error', () => {});
        from.on('close', () => to.destroy());
        from.pipe(to);
      }
    }, delayMs).unref();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return (url: string) => url.replace(`:${inject('postgresPort')}/`, `:${port}/`);
};

describe('a database that sleeps', () => {
  it('a start and readPlants wait for a database that needs longer than 2 s to respond', async () => {
    const through = await startSleeper(2_500);
    const direct = sharedUrl(await emptyDatabase());
    await openAndClose(direct);
    const repository = (await openPostgresRepository({ url: through(direct) }))._unsafeUnwrap();
    onTestFinished(repository.close);
    expect((await repository.create({ id: 7n, name: 'Monstera' })).isOk()).toBe(true);
    const read = [];
    for await (const one of readPlants({ url: through(direct) })) read.push(one.isOk());
    expect(read).toEqual([true]);
  });

  it('an address that accepted the connection and did not respond is reported with the wait, and the parameter that sets it', async () => {
    const through = await startSleeper(600_000);
    const url = `${through(sharedUrl('postgres'))}?connect_timeout=1`;
    const error = (await openPostgresRepository({ url }))._unsafeUnwrapErr();
    expect(error.kind).toBe('unreachable');
    expect(error.message).toMatch(
      /connect_timeout in the URL.*the connection was accepted.*within 1000 ms/,
    );
    expect(error.message).not.toMatch(/correct the host and the port/);
  });
});

it.each([
  ['', [true, 60_000]],
  ['?keepalives_idle=30', [true, 30_000]],
  ['?keepalives_idle=0', [true, 0]],
  ['?keepalives=0', [false, 60_000]],
])('TCP keepalives of an idle connection are set by the URL: "%s"', async (query, expected) => {
  const set = vi.spyOn(Socket.prototype, 'setKeepAlive');
  onTestFinished(() => set.mockRestore());
  await openAndClose(sharedUrl(await emptyDatabase()) + query);
  const [first = [false, 60_000]] = set.mock.calls;
  expect(first).toEqual(expected);
});
