// The load generator: sends unique plants over keep-alive connections. Each connection waits for the response before
// its next request. Raw sockets, because a client library would be the bottleneck.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantileSorted } from 'simple-statistics';
import { token } from './token.ts';

/** The load on a server. */
export type Load = {
  readonly connections: number;
  /** Duration of the warm-up, which is not counted. Up to three times as long for servers that warm up slowly. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
};

/** The load, and the server under load. */
export type LoadOptions = Load & {
  readonly port: number;
  readonly ids: 'sequential' | 'random';
};

/** Result of the counted seconds. */
export type LoadResult = {
  readonly responses: number;
  readonly perSecond: number;
  /** Percentiles of the time from a request to its response, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** CPU time of this process per second. Near 1, the load generator was the bottleneck. */
  readonly loadCores: number;
};

/** Number of responses after which the code of a server is optimized. */
const warmResponses = 10_000;

/** Time after which a request without a response fails, in milliseconds. */
const responseTimeoutMs = 10_000;

const expectedHead = /^HTTP\/1\.1 200 [^]*\r\nContent-Length: (\d+)\r\n/i;

async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const head = `POST /plants HTTP/1.1\r\nHost: 127.0.0.1:${options.port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: `;
  const latencies: number[] = [];
  const state = { phase: 'warm-up' as 'warm-up' | 'counting' | 'over', responses: 0, lastId: 0 };

  const nextRequest = (): string => {
    state.lastId += 1;
    // Random ids are spread over the index, below 2^53, because most peers accept no other.
    const base = options.ids === 'random' ? Math.floor(Math.random() * 2 ** 20) * 2 ** 32 : 0;
    const body = `{"id":${base + state.lastId},"name":"Monstera","tag":"climber"}`;
    return `${head}${body.length}\r\n\r\n${body}`;
  };

  const useConnection = async (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port: options.port, host: '127.0.0.1', noDelay: true });
      let response = '';
      let sentAt = 0;
      const send = () => {
        if (state.phase === 'over') {
          socket.end();
          resolve();
          return;
        }
        sentAt = performance.now();
        socket.write(nextRequest());
      };
      socket.setEncoding('latin1').on('connect', send);
      socket.on('data', (text: string) => {
        response += text;
        const bodyAt = response.indexOf('\r\n\r\n') + 4;
        if (bodyAt < 4) return;
        const length = expectedHead.exec(response.slice(0, bodyAt - 2))?.[1];
        if (length === undefined) {
          reject(new Error(`a response was not 200 with a Content-Length: ${response}`));
          return;
        }
        if (response.length < bodyAt + Number(length)) return;
        if (state.phase === 'counting') latencies.push(performance.now() - sentAt);
        state.responses += 1;
        response = '';
        send();
      });
      socket.setTimeout(responseTimeoutMs, () =>
        reject(new Error(`no response within ${responseTimeoutMs} ms`)),
      );
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('the server closed a connection')));
    });

  const running = Promise.all(Array.from({ length: options.connections }, useConnection));
  const runFor = async (seconds: number) => Promise.race([running, sleep(seconds * 1_000)]);
  for (let times = 0; times < 3 && state.responses < warmResponses; times += 1)
    await runFor(options.warmUpSeconds);
  state.phase = 'counting';
  const began = { at: performance.now(), cpu: process.cpuUsage() };
  process.send?.('began');
  // A server that sends no response fails by its timeout.
  do await runFor(options.seconds);
  while (latencies.length === 0);
  state.phase = 'over';
  const seconds = (performance.now() - began.at) / 1_000;
  const { user, system } = process.cpuUsage(began.cpu);
  process.send?.('ended');
  await running;

  const sorted = latencies.toSorted((one, other) => one - other);
  return {
    responses: sorted.length,
    perSecond: sorted.length / seconds,
    p50: quantileSorted(sorted, 0.5),
    p99: quantileSorted(sorted, 0.99),
    p999: quantileSorted(sorted, 0.999),
    loadCores: (user + system) / 1e6 / seconds,
  };
}

try {
  const result = await runLoad(JSON.parse(process.argv[2] ?? '{}') as LoadOptions);
  // Without a parent process, it was started from a shell.
  if (process.send === undefined) console.log(result);
  process.send?.(result);
  process.disconnect?.();
} catch (error) {
  // Without the stack, which is unrelated to the server.
  process.stderr.write(error instanceof Error ? error.message : String(error), () => {
    process.exit(1);
  });
}
