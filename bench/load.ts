// The load: unique plants over keep-alive connections, each waiting for its answer before the next.
// Raw sockets, because a client library would be the bottleneck.
import { connect } from 'node:net';
import { token } from './token.ts';

/** What is to be sent. */
export type LoadOptions = {
  readonly port: number;
  readonly connections: number;
  /** Before anything is counted; three times as long for those that are slow to become warm. */
  readonly warmUpSeconds: number;
  /** Connections that warm it up, where those that are measured are too few for that. */
  readonly warmUpConnections?: number;
  readonly seconds: number;
  readonly ids: 'sequential' | 'random';
};

/** What came of it, in the seconds that count. */
export type LoadResult = {
  readonly answers: number;
  readonly perSecond: number;
  /** Milliseconds from a request to its answer. */
  readonly latency: {
    readonly mean: number;
    readonly p50: number;
    readonly p99: number;
    readonly p999: number;
  };
  /** The part of a core that the load itself took: far from 1, or it was the bottleneck. */
  readonly loadCpu: number;
};

const options = JSON.parse(process.argv[2] ?? '{}') as LoadOptions;

const head = `POST /plants HTTP/1.1\r\nHost: 127.0.0.1:${options.port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: `;

let lastId = 0;
/** All over the index, and below 2^53, because most peers take no other. */
const randomBase = () => Math.floor(Math.random() * 2 ** 20) * 2 ** 32;
const nextId = (): number => {
  lastId += 1;
  return options.ids === 'random' ? randomBase() + lastId : lastId;
};

const requestText = (): string => {
  const body = `{"id":${nextId()},"name":"Monstera","tag":"climber"}`;
  return `${head}${body.length}\r\n\r\n${body}`;
};

const counting = { isWarm: false, isOn: false, isOver: false, warmUp: 0 };
const latencies: number[] = [];

const contentLength = /\r\ncontent-length: (\d+)/i;

const isWhole = (answer: string): boolean => {
  const headEnd = answer.indexOf('\r\n\r\n');
  const length = contentLength.exec(answer)?.[1] ?? 0;
  return headEnd !== -1 && answer.length >= headEnd + 4 + Number(length);
};

const faultOf = (answer: string): Error | undefined => {
  if (!answer.startsWith('HTTP/1.1 200 ')) return new Error(`an answer was not 200: ${answer}`);
  // Where its end would have to be guessed.
  if (!contentLength.test(answer)) return new Error(`an answer had no Content-Length: ${answer}`);
  return undefined;
};

/** For how long a server may leave a request unanswered, in milliseconds. */
const maxSilenceMs = 10_000;

/** Sends one plant after another, until all is over, or until it is warm. */
const converse = async (until: 'isOver' | 'isWarm'): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port: options.port, host: '127.0.0.1', noDelay: true });
    let answer = '';
    let sentAt = 0;
    const send = () => {
      if (counting[until]) {
        socket.end();
        resolve();
        return;
      }
      sentAt = performance.now();
      socket.write(requestText());
    };
    socket.setEncoding('latin1').on('connect', send);
    socket.on('data', (text: string) => {
      answer += text;
      if (!isWhole(answer)) return;
      const fault = faultOf(answer);
      if (fault !== undefined) {
        reject(fault);
        return;
      }
      if (counting.isOn) latencies.push(performance.now() - sentAt);
      else counting.warmUp += 1;
      answer = '';
      send();
    });
    socket.setTimeout(maxSilenceMs, () => reject(new Error('an answer did not come')));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection')));
  });

const wait = async (seconds: number) =>
  new Promise((resolve) => {
    setTimeout(resolve, seconds * 1_000);
  });

/** Answers after which the code of a server has been compiled, as far as it will be. */
const warmAnswers = 10_000;

const put = async (): Promise<LoadResult> => {
  const { connections, warmUpConnections = 0 } = options;
  const start = async (count: number, until: 'isOver' | 'isWarm') =>
    Promise.all(Array.from({ length: Math.max(0, count) }, async () => converse(until)));
  const running = start(connections, 'isOver');
  const warming = start(warmUpConnections - connections, 'isWarm');
  for (let times = 0; times < 3 && counting.warmUp < warmAnswers; times += 1)
    await Promise.race([running, wait(options.warmUpSeconds)]);
  counting.isWarm = true;
  await Promise.race([running, warming]);
  counting.isOn = true;
  const began = { at: performance.now(), cpu: process.cpuUsage() };
  process.send?.('began');
  await Promise.race([running, wait(options.seconds)]);
  counting.isOn = false;
  const seconds = (performance.now() - began.at) / 1_000;
  const { user, system } = process.cpuUsage(began.cpu);
  process.send?.('ended');
  counting.isOver = true;
  await running;

  const sorted = Float64Array.from(latencies).toSorted();
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0;
  return {
    answers: latencies.length,
    perSecond: latencies.length / seconds,
    latency: {
      mean: sorted.reduce((sum, latency) => sum + latency, 0) / sorted.length,
      p50: at(0.5),
      p99: at(0.99),
      p999: at(0.999),
    },
    loadCpu: (user + system) / 1e6 / seconds,
  };
};

try {
  process.send?.(await put());
  process.disconnect?.();
} catch (thrown) {
  // Without the stack, which says nothing of the server; whoever started this has the text.
  process.stderr.write(thrown instanceof Error ? thrown.message : String(thrown), () => {
    process.exit(1);
  });
}
