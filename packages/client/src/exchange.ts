import { quietly } from './quietly.ts';
import { readBytes } from './read-bytes.ts';

/** An answer of the service, read to its end. */
export type Answer = { readonly status: number; readonly body: Uint8Array };

/**
 * Sends one request and reads its answer; throws whatever goes wrong. After an abort nobody waits
 * for it any more: it goes on only to cancel a body that comes too late.
 *
 * @param longestBody The bytes that the answer's body may have.
 * @param onStatus Hears the status as soon as the answer begins.
 */
export const exchange = async (
  send: (signal: AbortSignal) => Promise<Response>,
  signal: AbortSignal,
  longestBody: number,
  onStatus: (status: number) => void,
): Promise<Answer> => {
  const response = await send(signal);
  const { status } = response;
  if (!Number.isInteger(status)) {
    void quietly(() => response.body?.cancel());
    throw new TypeError('fetch answered no Response');
  }
  onStatus(status);
  return { status, body: await readBytes(response, signal, longestBody) };
};
