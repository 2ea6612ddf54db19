import { connect, type Socket } from 'node:net';
import { token } from '../black-box/program.ts';

/** The responses that clients received in a period. */
export type LoadResult = {
  readonly created: number;
  /** Number of 503 responses. */
  readonly refused: number;
  /** Other statuses and errors; expected to be empty. */
  readonly others: readonly string[];
  readonly seconds: number;
};

/** Clients that post one plant after another, after a 503 once `Retry-After` is over. */
export type Load = {
  /** Counts the responses of the next seconds. */
  readonly count: (seconds: number) => Promise<LoadResult>;
  readonly stop: () => Promise<void>;
};

const completeResponse = /^HTTP\/1\.1 (\d{3})[^]*?\r\nContent-Length: (\d+)\r\n[^]*?\r\n\r\n/i;

const retryAfter = /\r\nRetry-After: (\d+)\r\n/i;

let nextId = 1;

const requestTo = (port: number): string => {
  const body = `{"id":${nextId},"name":"Monstera"}`;
  nextId += 1;
  return `POST /plants HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

/** Starts clients, each on a separate connection. */
export const startLoad = (port: number, clients: number): Load => {
  const state = { isStopped: false, created: 0, refused: 0, others: [] as string[] };

  const countStatus = (status: string) => {
    if (status === '200') state.created += 1;
    else if (status === '503') state.refused += 1;
    else state.others.push(status);
  };
  const sendNext = (socket: Socket) => {
    if (state.isStopped) socket.destroy();
    else socket.write(requestTo(port));
  };
  const runClient = async () =>
    new Promise<void>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let received = '';
      socket.setEncoding('latin1').on('connect', () => socket.write(requestTo(port)));
      socket.on('data', (text: string) => {
        received += text;
        const found = completeResponse.exec(received);
        if (found === null || received.length < found[0].length + Number(found[2])) return;
        received = '';
        countStatus(found[1] ?? '');
        const [, seconds] = retryAfter.exec(found[0]) ?? [];
        if (seconds === undefined) sendNext(socket);
        else setTimeout(() => sendNext(socket), Number(seconds) * 1_000);
      });
      socket.on('error', ({ message }) => state.others.push(message));
      socket.on('close', () => {
        if (!state.isStopped) state.others.push('closed');
        resolve();
      });
    });
  const all = Promise.all(Array.from({ length: clients }, runClient));

  return {
    async count(seconds) {
      Object.assign(state, { created: 0, refused: 0 });
      const from = performance.now();
      await new Promise((resolve) => {
        setTimeout(resolve, seconds * 1_000);
      });
      const { created, refused, others } = state;
      return { created, refused, others, seconds: (performance.now() - from) / 1_000 };
    },
    async stop() {
      state.isStopped = true;
      await all;
    },
  };
};
