// The load: sends unique plants over keep-alive connections. Each connection waits for the response before its next
// request. Raw sockets, because a client library would be the bottleneck.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantileSorted } from 'simple-statistics';
import type { Figures } from './rounds.ts';

/** The load on a server. */
export type Load = {
  readonly connections: number;
  /** Duration of the warm-up, which is not counted. Up to three times as long for slow servers. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
};

/** CPU time and memory of the server's process. */
export type Usage = { readonly cpuUs: number; readonly residentMiB: number };

/** The bearer token of all requests. */
export const token = 'benchmark-token';

/** Puts a load on a port of this machine. Returns the figures of the counted seconds. */
export async function runLoad(
  { port, connections, ...times }: Load & { readonly port: number },
  usage: () => Promise<Usage> = async () => ({ cpuUs: 0, residentMiB: 0 }),
): Promise<Figures> {
  const latencies: number[] = [];
  const state: State = { port, latencies, phase: 'warm-up', responses: 0, lastId: 0 };
  const running = Promise.all(
    Array.from({ length: connections }, async () => useConnection(state)),
  );
  const runFor = async (seconds: number) => Promise.race([running, sleep(seconds * 1_000)]);
  // The code of a server is optimized after some thousands of requests.
  for (let repeats = 0; repeats < 3 && state.responses < 10_000; repeats += 1)
    await runFor(times.warmUpSeconds);
  const before = await usage();
  const began = { at: performance.now(), cpu: process.cpuUsage() };
  state.phase = 'counting';
  // A server that sends no response fails by its timeout.
  do await runFor(times.seconds);
  while (latencies.length === 0);
  state.phase = 'over';
  const seconds = (performance.now() - began.at) / 1_000;
  const { user, system } = process.cpuUsage(began.cpu);
  const after = await usage();
  await running;
  latencies.sort((one, other) => one - other);
  return {
    cpuUs: (after.cpuUs - before.cpuUs) / latencies.length,
    perSecond: latencies.length / seconds,
    // Percentiles of the time from a request to its response, in milliseconds.
    p99: quantileSorted(latencies, 0.99),
    p999: quantileSorted(latencies, 0.999),
    // CPU time of this process per second. Near 1, the load was the bottleneck.
    loadCores: (user + system) / 1e6 / seconds,
    residentMiB: after.residentMiB,
  };
}

type State = {
  readonly port: number;
  readonly latencies: number[];
  phase: 'warm-up' | 'counting' | 'over';
  responses: number;
  lastId: number;
};

const expectedHead = /^HTTP\/1\.1 200 [^]*\r\nContent-Length: (\d+)\r\n/i;

async function useConnection(state: State): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: state.port, host: '127.0.0.1', noDelay: true });
    let response = '';
    let sentAt = 0;
    const send = () => {
      sentAt = performance.now();
      if (state.phase === 'over') socket.end(resolve);
      else socket.write(nextRequest(state));
    };
    socket.setEncoding('latin1').on('connect', send);
    socket.on('data', (text: string) => {
      response += text;
      const bodyAt = response.indexOf('\r\n\r\n') + 4;
      if (bodyAt < 4) return;
      const length = expectedHead.exec(response.slice(0, bodyAt - 2))?.[1];
      if (length === undefined)
        reject(new Error(`a response was not 200 with a Content-Length: ${response}`));
      else if (response.length >= bodyAt + Number(length)) {
        if (state.phase === 'counting') state.latencies.push(performance.now() - sentAt);
        state.responses += 1;
        response = '';
        send();
      }
    });
    socket.setTimeout(10_000, () => socket.destroy(new Error('no response in time')));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection')));
  });
}

function nextRequest(state: State): string {
  state.lastId += 1;
  // Spread over the index, below 2^53, because most peers accept no other.
  const id = Math.floor(Math.random() * 2 ** 20) * 2 ** 32 + state.lastId;
  const body = `{"id":${id},"name":"Monstera","tag":"climber"}`;
  const fields = `Host: 127.0.0.1:${state.port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json`;
  return `POST /plants HTTP/1.1\r\n${fields}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

if (import.meta.main)
  console.log(await runLoad(JSON.parse(process.argv[2] ?? '{}') as Parameters<typeof runLoad>[0]));
