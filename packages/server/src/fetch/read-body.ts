import { type Answer, errorAnswer } from '../http/answer.ts';
import { createBodyBuffer } from '../http/body-buffer.ts';
import type { Limits } from '../limits.ts';

const isLost = 'the body was read before this handler was called, or is not made of bytes';

const ignore = (): void => {};

/** Reads the body of a request that is admitted. Resolves to the answer where it cannot be read. */
export const readBody = async (
  { body, bodyUsed, signal }: Request,
  { maxBodyBytes, requestTimeoutMs }: Pick<Limits, 'maxBodyBytes' | 'requestTimeoutMs'>,
): Promise<Uint8Array | Answer> => {
  const buffer = createBodyBuffer(maxBodyBytes);
  if (bodyUsed || body?.locked === true) return errorAnswer('internal', { cause: isLost });
  if (body === null) return buffer.bytes();
  const reader = body.getReader() as ReadableStreamDefaultReader<unknown>;
  let stopped: Answer | undefined;
  const stop = (answer: Answer): void => {
    stopped ??= answer;
    // A read that is pending completes, whatever the source of the stream does.
    reader.cancel().catch(ignore);
  };
  // Nothing is answered after an abort.
  const onAbort = () => stop(errorAnswer('bad-request'));
  const endsAt = performance.now() + requestTimeoutMs;
  const timer = setTimeout(() => stop(errorAnswer('request-timeout')), requestTimeoutMs);
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (stopped !== undefined) return stopped;
      if (done) return buffer.bytes();
      if (!(value instanceof Uint8Array)) return errorAnswer('internal', { cause: isLost });
      if (!buffer.add(value)) return errorAnswer('body-too-large');
      // A stream that always has another empty chunk leaves no time for a timer.
      if (performance.now() > endsAt) return errorAnswer('request-timeout');
    }
  } catch {
    return stopped ?? errorAnswer('bad-request', { message: 'the body could not be read' });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    reader.cancel().catch(ignore);
  }
};
