import { BodyBuffer } from '../http/body-buffer.ts';
import type { Limits } from '../http/options.ts';
import { errorResponse, type ResponseData } from '../http/responses.ts';

const unreadable = 'the body was read before this handler was called, or is not a stream of bytes';

const ignore = (): void => {};

/** Number of chunks to read before timers and other work can run. A stream can return chunks without I/O. */
const chunksPerTurn = 1_000;

const nextTurn = async (): Promise<void> => new Promise((resolve) => void setTimeout(resolve));

/** Reads the body of an admitted request. Resolves with an error response if it cannot be read. */
export const readBody = async (
  { body, bodyUsed, signal }: Request,
  { maxBodyBytes, requestTimeoutMs }: Pick<Limits, 'maxBodyBytes' | 'requestTimeoutMs'>,
): Promise<Uint8Array | ResponseData> => {
  const buffer = new BodyBuffer(maxBodyBytes);
  if (bodyUsed || body?.locked === true) return errorResponse('internal', { cause: unreadable });
  if (body === null) return buffer.bytes();
  const reader = body.getReader() as ReadableStreamDefaultReader<unknown>;
  let stopped: ResponseData | undefined;
  const stop = (responseData: ResponseData): void => {
    stopped ??= responseData;
    // Cancelling completes a pending read even if the source of the stream does not respond.
    reader.cancel().catch(ignore);
  };
  // No response is sent after an abort.
  const onAbort = () => stop(errorResponse('bad-request'));
  const timer = setTimeout(() => stop(errorResponse('request-timeout')), requestTimeoutMs);
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    for (let reads = 1; ; reads += 1) {
      const { done, value } = await reader.read();
      if (stopped !== undefined) return stopped;
      if (done) return buffer.bytes();
      if (!(value instanceof Uint8Array)) return errorResponse('internal', { cause: unreadable });
      if (!buffer.add(value)) return errorResponse('body-too-large');
      if (reads % chunksPerTurn === 0) await nextTurn();
    }
  } catch {
    return stopped ?? errorResponse('bad-request', { message: 'the body could not be read' });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    reader.cancel().catch(ignore);
  }
};
