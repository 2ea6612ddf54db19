import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ErrorName, errorTable } from '@plantstore/core/errors';
import { connectRaw, parseResponses } from '@plantstore/test-support/raw-http';
import { sample } from '@plantstore/test-support/sample';
import { describe, expect, it } from 'vitest';
import { head, listen, plant, post } from '../../test/listen.ts';

const line = (requestLine: string) => head(['Host: a'], requestLine);

const cases: readonly (readonly [name: ErrorName, what: string, bytes: string])[] = [
  ['bad-request', 'an unknown method', line('FOO /plants HTTP/1.1')],
  ['bad-request', 'a method that begins as another', line('POSTS /plants HTTP/1.1')],
  ['bad-request', 'a method that leaves another in its middle', line('PROST /plants HTTP/1.1')],
  ['bad-request', 'a method in lower case', line('post /plants HTTP/1.1')],
  ['bad-request', 'a method with other characters', line("PO!#$%&'*+-.^_`|~09 /plants HTTP/1.1")],
  ['bad-request', 'a method of RTSP', line('DESCRIBE /plants HTTP/1.1')],
  ['bad-request', 'the method of the preface of HTTP/2', line('PRI /plants HTTP/1.1')],
  ['bad-request', 'a line of another protocol that begins like a method', 'EHLO a\r\n'],
  ['bad-request', 'a method that another one begins with', line('PO /plants HTTP/1.1')],
  ['bad-request', 'a space before the method', line(' POST /plants HTTP/1.1')],
  ['bad-request', 'a tab after the method', line('POST\t/plants HTTP/1.1')],
  ['bad-request', 'a method without a target', line('POST')],
  ['bad-request', 'a method with a character that no method has', line('P@ST /plants HTTP/1.1')],
  ['bad-request', 'the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['not-implemented', 'RTSP', line('DESCRIBE /plants RTSP/1.0')],
  ['bad-request', 'an unknown version', line('POST /plants HTTP/7.7')],
  ['bad-request', 'bytes of a body', plant(1)],
  ['bad-request', 'a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
];

describe('split packets', () => {
  it.each(
    sample(
      [
        ...cases.map(([name, what, bytes]) => [name, what, '', bytes] as const),
        ...cases.map(
          ([name, what, bytes]) => [name, `${what}, behind a body`, post(7), bytes] as const,
        ),
      ],
      3,
    ),
  )(
    'a request that is split at any byte into two packets has one response, %s: %s',
    async (name, _, before, bytes) => {
      const { server, port } = await listen();
      const all = Buffer.from(before + bytes, 'latin1');
      const errorsOf = async (split: number) => {
        const accepted = once(server, 'connection') as Promise<[Socket]>;
        const { socket, ended } = await connectRaw(port);
        const [peer] = await accepted;
        socket.setNoDelay().write(all.subarray(0, split));
        while (peer.bytesRead < split && !peer.destroyed) await nextTurn();
        socket.end(all.subarray(split));
        const responses = parseResponses(await ended);
        socket.destroy();
        return responses.map(({ body }) => (JSON.parse(body) as { error?: number }).error);
      };
      const served = before === '' ? [] : [undefined];
      // Splits inside the request before it are the same for every case.
      for (let split = Math.max(1, before.length - 2); split <= all.length; split += 1) {
        expect([split, await errorsOf(split)]).toEqual([
          split,
          [...served, errorTable[name].error],
        ]);
      }
    },
  );
});
