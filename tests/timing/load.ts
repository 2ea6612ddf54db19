import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { token } from '../black-box/program.ts';

const completeResponse = /^HTTP\/1\.1 (\d{3})[^]*?\r\nContent-Length: (\d+)\r\n[^]*?\r\n\r\n/i;

const retryAfter = /\r\nRetry-After: (\d+)\r\n/i;

let nextId = 1;

const requestTo = (port: number): string => {
  const body = `{"id":${nextId},"name":"Monstera"}`;
  nextId += 1;
  return `POST /plants HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

/**
 * Starts clients that post one plant after another, each on a separate connection, after a 503 once
 * `Retry-After` is over.
 */
export const startLoad = (port: number, clients: number) => {
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
    /** Counts the plants that are created in the next seconds, the 503s, and lists what else happens. */
    async count(seconds: number) {
      Object.assign(state, { created: 0, refused: 0 });
      const from = performance.now();
      await sleep(seconds * 1_000);
      const { created, refused, others } = state;
      return { created, refused, others, seconds: (performance.now() - from) / 1_000 };
    },
    async stop() {
      state.isStopped = true;
      await all;
    },
  };
};
