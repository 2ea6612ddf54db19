import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the proxy does with data. */
export type ProxyMode =
  | 'pass'
  /** Closes new connections. */
  | 'refuse'
  /** Discards what arrives, in both directions or from the server alone. */
  | 'discard'
  | 'discard-responses'
  /** Delays each chunk by 300 ms. */
  | 'delay'
  /** Closes a connection in the middle of a response. */
  | 'cut';

export type Proxy = {
  readonly port: number;
  readonly setMode: (mode: ProxyMode) => void;
  /** Closes every connection, or only sends the end of the data to one side. */
  readonly end: (side?: 'client' | 'server') => void;
  readonly close: () => void;
};

/** Starts a proxy in front of a PostgreSQL server of this machine. */
export async function startProxy(serverPort: number): Promise<Proxy> {
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
      if (mode === 'discard' || (mode === 'discard-responses' && from === server)) return;
      if (mode === 'cut' && from === server) to.end(chunk.subarray(0, chunk.length / 2));
      if (mode === 'delay') {
        from.pause();
        await sleep(300);
        from.resume();
      }
      if (!to.destroyed && !to.writableEnded) to.write(chunk);
    };
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('data', (chunk) => void transfer(from, to, chunk));
      from.on('end', () => to.end());
      from.on('error', () => to.destroy());
      from.on('close', () => {
        pairs.delete(pair);
        to.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const end: Proxy['end'] = (side) => {
    for (const pair of pairs) {
      if (side === undefined) pair.client.destroy();
      else pair[side].end();
    }
  };
  return {
    port: (listener.address() as AddressInfo).port,
    setMode: (next) => (mode = next),
    end,
    close: () => {
      listener.close();
      end();
    },
  };
}
