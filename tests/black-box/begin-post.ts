import { connectRaw, parseResponses, type RawConnection } from '@plantstore/test-support/raw-http';
import { token } from './program.ts';

/** Starts a request that stays in flight: the server has received its head and waits for its body. */
export const beginPost = async (
  { port, url }: { readonly port: number; readonly url: string },
  body: string,
  bearer = token,
): Promise<RawConnection & { readonly status: () => Promise<number | undefined> }> => {
  const connection = await connectRaw(port);
  const fields = [
    'Host: a',
    `Authorization: Bearer ${bearer}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    // The server sends 100 Continue once the request is admitted.
    'Expect: 100-continue',
    'Connection: close',
  ];
  const { pathname } = new URL(url);
  connection.socket.write(`POST ${pathname} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
  await connection.until((text) => text.includes('100 Continue\r\n\r\n'));
  return {
    ...connection,
    async status() {
      connection.socket.write(body);
      const final = parseResponses(await connection.ended).at(-1);
      connection.socket.destroy();
      return final?.status;
    },
  };
};
