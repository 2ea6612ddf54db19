import { connect } from 'node:net';
import { token } from '../black-box/host.ts';

/** What a crowd of clients was told, in a span of time. */
export type Told = {
  readonly created: number;
  /** Answered 503. */
  readonly turnedAway: number;
  /** Anything else; there should be none. */
  readonly others: readonly string[];
  readonly seconds: number;
};

/** Clients that post one plant after another, and care about no `Retry-After`. */
export type Crowd = {
  /** Counts for a while, from now on. */
  readonly count: (seconds: number) => Promise<Told>;
  readonly leave: () => Promise<void>;
};

const wholeAnswer = /^HTTP\/1\.1 (\d{3})[^]*?\r\nContent-Length: (\d+)\r\n[^]*?\r\n\r\n/i;

let nextId = 1;

const requestTo = (port: number): string => {
  const body = `{"id":${nextId},"name":"Monstera"}`;
  nextId += 1;
  return `POST /plants HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

/** Brings so many clients, each on a connection of its own. */
export const gather = (port: number, clients: number): Crowd => {
  const state = { isOver: false, created: 0, turnedAway: 0, others: [] as string[] };

  const note = (status: string) => {
    if (status === '200') state.created += 1;
    else if (status === '503') state.turnedAway += 1;
    else state.others.push(status);
  };
  const ask = async () =>
    new Promise<void>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let answer = '';
      socket.setEncoding('latin1').on('connect', () => socket.write(requestTo(port)));
      socket.on('data', (text: string) => {
        answer += text;
        const found = wholeAnswer.exec(answer);
        if (found === null || answer.length < found[0].length + Number(found[2])) return;
        answer = '';
        note(found[1] ?? '');
        if (state.isOver) socket.destroy();
        else socket.write(requestTo(port));
      });
      socket.on('error', ({ message }) => state.others.push(message));
      socket.on('close', () => {
        if (!state.isOver) state.others.push('closed');
        resolve();
      });
    });
  const all = Promise.all(Array.from({ length: clients }, ask));

  return {
    async count(seconds) {
      Object.assign(state, { created: 0, turnedAway: 0 });
      const from = performance.now();
      await new Promise((resolve) => {
        setTimeout(resolve, seconds * 1_000);
      });
      const { created, turnedAway, others } = state;
      return { created, turnedAway, others, seconds: (performance.now() - from) / 1_000 };
    },
    async leave() {
      state.isOver = true;
      await all;
    },
  };
};
