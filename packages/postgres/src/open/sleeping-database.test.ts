import { once } from 'node:events';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import { expect, inject, it, onTestFinished, vi } from 'vitest';
import { emptyDatabase, sharedUrl } from '../../test/shared-postgres.ts';
import { openAndClose } from '../../test/open.ts';
import { errorResponse } from '../../test/wire-messages.ts';
import { openPostgresRepository } from '../repository.ts';
import { readPlants } from '../read/read-plants.ts';

/** Starts a server that accepts each connection, and passes its data on after a delay. */
const startSleeper = async (delayMs: number) => {
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client.on('error', () => {}));
    setTimeout(() => {
      const upstream = connect(inject('postgresPort'), '127.0.0.1');
      upstream.on('error', () => client.destroy());
      client.pipe(upstream).pipe(client);
    }, delayMs).unref();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    // A socket that is not read does not notice that its client has closed it.
    for (const client of clients) client.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return (url: string) => url.replace(`:${inject('postgresPort')}/`, `:${port}/`);
};

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

it('an address that accepts the connection and does not respond is named so, with the parameter for the wait', async () => {
  const through = await startSleeper(600_000);
  const url = `${through(sharedUrl('postgres'))}?connect_timeout=1`;
  const { kind, message } = (await openPostgresRepository({ url }))._unsafeUnwrapErr();
  expect(kind).toBe('unreachable');
  expect(message).toMatch(/wait longer with connect_timeout.*was accepted.*within 1000 ms/);
  expect(message).not.toMatch(/correct the host and the port/);
});

it.each([
  ['is starting up', errorResponse('57P03', 'FATAL')],
  ['ends the connection', Buffer.alloc(0)],
])('a start does not blame host and port when the server %s', async (_, response) => {
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client.on('error', () => {}));
    client.once('data', () => client.end(response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    // A socket that is not read does not notice that its client has closed it.
    for (const client of clients) client.destroy();
  });
  const { port } = server.address() as AddressInfo;
  const url = `postgres://ada@127.0.0.1:${port}/garden?sslmode=disable`;
  const { kind, message } = (await openPostgresRepository({ url }))._unsafeUnwrapErr();
  expect(kind).toBe('unreachable');
  expect(message).toMatch(/may be starting, stopping, resuming/);
});

it('TCP keepalives of an idle connection are more frequent than the idle timeout of a NAT gateway', async () => {
  const set = vi.spyOn(Socket.prototype, 'setKeepAlive');
  onTestFinished(() => set.mockRestore());
  await openAndClose(sharedUrl(await emptyDatabase()));
  expect(set.mock.calls.find(([isOn]) => isOn)).toEqual([true, 60_000]);
});
