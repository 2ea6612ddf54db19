import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** It passes data on, refuses connections, discards data, delays it, or cuts each response. */
export type ProxyMode = 'pass' | 'refuse' | 'discard' | 'discard responses' | 'delay' | 'cut';

export type Proxy = Awaited<ReturnType<typeof startProxy>>;

/** Starts a proxy in front of a PostgreSQL server of this machine. */
export async function startProxy(serverPort: number) {
  let mode: ProxyMode = 'pass';
  const pairs = new Set<{ readonly client: Socket; readonly server: Socket }>();
  const listener = createServer((client) => {
    if (mode === 'refuse') {
      client.destroy();
      return;
    }
    const server = connect(serverPort, '127.0.0.1');
    const pair = { client, server };
    pairs.add(pair);
    const transfer = async (from: Socket, to: Socket, chunk: Buffer) => {
      if (mode === 'discard' || (mode === 'discard responses' && from === server)) return;
      if (mode === 'cut' && from === server) to.end(chunk.subarray(0, chunk.length / 2));
      if (mode === 'delay') {
        from.pause();
        await sleep(300);
        from.resume();
      }
      if (to.writable) to.write(chunk);
    };
    const join = (from: Socket, to: Socket) =>
      from
        .on('data', (chunk: Buffer) => void transfer(from, to, chunk))
        .on('end', () => to.end())
        .on('error', () => {})
        .on('close', () => {
          pairs.delete(pair);
          to.destroy();
        });
    join(client, server);
    join(server, client);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    setMode: (next: ProxyMode) => void (mode = next),
    /** Sends the end of the data to one side of each connection, or closes each. */
    end(side?: 'client' | 'server') {
      for (const pair of pairs) {
        if (side === undefined) pair.client.destroy();
        else pair[side].end();
      }
    },
    close: () => void listener.close(),
  };
}
