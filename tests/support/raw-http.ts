import { connect, type Socket } from 'node:net';
import { connect as connectSecurely, type ConnectionOptions, type TLSSocket } from 'node:tls';

/** An HTTP response, parsed without normalization. */
export type RawResponse = {
  readonly status: number;
  /** Field names in lower case; a repeated field has its values joined by a line break. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

const parseOne = (text: string): { response: RawResponse; rest: string } | undefined => {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [name = '', ...value] = line.split(': ');
    const key = name.toLowerCase();
    headers[key] = key in headers ? `${headers[key]}\n${value.join(': ')}` : value.join(': ');
  }
  const start = end + 4;
  const length = Number(headers['content-length'] ?? 0);
  const response = {
    status: Number(statusLine.split(' ')[1]),
    headers,
    body: text.slice(start, start + length),
  };
  return { response, rest: text.slice(start + length) };
};

/** Parses the responses in a text, in order. */
export const parseResponses = (text: string): RawResponse[] => {
  const parsed = parseOne(text);
  return parsed === undefined ? [] : [parsed.response, ...parseResponses(parsed.rest)];
};

/** A connection on which a test writes and reads raw bytes. */
export type RawConnection<S extends Socket = Socket> = {
  readonly socket: S;
  /** Returns the data received so far (bytes as Latin-1). */
  readonly received: () => string;
  /** Waits until the received data satisfies a predicate. Rejects when the connection ends before. */
  readonly until: (isEnough: (received: string) => boolean) => Promise<string>;
  /** Resolves with the received data when the connection has ended. */
  readonly ended: Promise<string>;
};

const watch = async <S extends Socket>(
  socket: S,
  connected: 'connect' | 'secureConnect',
): Promise<RawConnection<S>> => {
  let received = '';
  const waiting = new Set<() => void>();
  const ended = Promise.withResolvers<string>();
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    received += chunk;
    for (const resolveIfEnough of waiting) resolveIfEnough();
  });
  socket.on('end', () => ended.resolve(received));
  socket.on('close', () => ended.resolve(received));
  socket.on('error', () => ended.resolve(received));
  await new Promise<void>((resolve) => {
    socket.once(connected, resolve);
    socket.once('close', () => resolve());
  });
  return {
    socket,
    received: () => received,
    ended: ended.promise,
    until: async (isEnough) =>
      new Promise((resolve, reject) => {
        const resolveIfEnough = () => {
          if (!isEnough(received)) return;
          waiting.delete(resolveIfEnough);
          resolve(received);
        };
        waiting.add(resolveIfEnough);
        void ended.promise.then(() => {
          resolveIfEnough();
          reject(new Error(`the connection ended after ${JSON.stringify(received)}`));
        });
        resolveIfEnough();
      }),
  };
};

/** Connects to a port on 127.0.0.1. */
export const connectRaw = async (port: number): Promise<RawConnection> =>
  watch(connect({ port, host: '127.0.0.1', allowHalfOpen: true }), 'connect');

/** Connects to a port on 127.0.0.1 with TLS, without verifying the certificate. */
export const connectTls = async (
  port: number,
  options: ConnectionOptions = {},
): Promise<RawConnection<TLSSocket>> =>
  watch(
    connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }),
    'secureConnect',
  );

/** Sends bytes on a new connection, and returns the first final response. */
export const sendRaw = async (port: number, bytes: string | Uint8Array): Promise<RawResponse> => {
  const connection = await connectRaw(port);
  connection.socket.write(bytes);
  const final = (text: string) => parseResponses(text).find(({ status }) => status >= 200);
  const isComplete = (text: string) => {
    const response = final(text);
    return (
      response !== undefined &&
      response.body.length >= Number(response.headers['content-length'] ?? 0)
    );
  };
  const text = await connection.until(isComplete);
  connection.socket.destroy();
  const response = final(text);
  if (response === undefined) throw new Error(`no response in ${JSON.stringify(text)}`);
  return response;
};
