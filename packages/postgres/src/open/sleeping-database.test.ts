import { once } from 'node:events';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import { expect, inject, it, onTestFinished, vi } from 'vitest';
import { emptyDatabase, runSql, sharedUrl } from '../../test/shared-postgres.ts';
import { openAndClose } from '../../test/open.ts';
import { errorResponse, readyForQuery } from '../../test/wire-messages.ts';
import { openPostgresRepository } from '../repository.ts';
import { readPlants } from '../read/read-plants.ts';

const authenticationOk = [0x52, 0, 0, 0, 8, 0, 0, 0, 0];
const shutdown = errorResponse('57P01', 'FATAL');

/** Starts a server, and returns a function that replaces the port of the shared one in a URL. */
const startServer = async (serve: (client: Socket) => void) => {
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client.on('error', () => {}));
    serve(client);
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

const errorOf = async (url: string) => {
  const { kind, message } = (await openPostgresRepository({ url }))._unsafeUnwrapErr();
  expect(kind).toBe('unreachable');
  return message;
};

it('a start and readPlants wait for a database that needs longer than 2 s to respond, and later logins do not', async () => {
  const clients: Socket[] = [];
  let isAsleep = false;
  const through = await startServer((client) => {
    clients.push(client);
    if (isAsleep) return;
    setTimeout(() => {
      const upstream = connect(inject('postgresPort'), '127.0.0.1');
      upstream.on('error', () => client.destroy());
      client.pipe(upstream).pipe(client);
    }, 2_100).unref();
  });
  const direct = sharedUrl(await emptyDatabase());
  await openAndClose(direct);
  await runSql(direct, "INSERT INTO plants (id, name) VALUES (7, 'Monstera')");
  const url = `${through(direct)}?sslmode=disable`;
  const opening = openPostgresRepository({ url, deadlineMs: 2_500 });
  expect((await readPlants({ url }).next()).value?.isOk()).toBe(true);
  const repository = (await opening)._unsafeUnwrap();
  onTestFinished(repository.close);
  isAsleep = true;
  for (const client of clients) client.destroy();
  const failed = await repository.create({ id: 7n, name: 'Monstera' });
  expect(failed._unsafeUnwrapErr()).toMatchObject({
    reason: expect.stringContaining('no response within 2000 ms') as unknown,
  });
});

it('an address that accepts the connection and does not respond is named so, with the parameter for the wait', async () => {
  const through = await startServer(() => {});
  const message = await errorOf(`${through(sharedUrl('postgres'))}?connect_timeout=1`);
  expect(message).toMatch(/wait longer with connect_timeout.*was accepted.*within 1000 ms/);
  expect(message).not.toMatch(/correct the host and the port/);
});

it.each([
  ['the connection', []],
  ['the session with the login', [...authenticationOk, ...readyForQuery, ...shutdown]],
])('a start does not blame host and port when the server ends %s', async (_, response) => {
  const through = await startServer((client) => {
    client.once('data', () => client.end(Buffer.from(response)));
  });
  const message = await errorOf(`${through(sharedUrl('postgres'))}?sslmode=disable`);
  expect(message).toMatch(/may be starting, stopping, resuming/);
});

it('TCP keepalives of an idle connection are more frequent than the idle timeout of a NAT gateway', async () => {
  const set = vi.spyOn(Socket.prototype, 'setKeepAlive');
  onTestFinished(() => set.mockRestore());
  await openAndClose(sharedUrl(await emptyDatabase()));
  expect(set.mock.calls.find(([isOn]) => isOn)).toEqual([true, 60_000]);
});
