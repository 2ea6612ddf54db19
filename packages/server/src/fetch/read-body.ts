import { err, ok, type Result } from 'neverthrow';
import { BodyBuffer } from '../http/body-buffer.ts';
import type { Limits } from '../http/options.ts';
import { errorResponse, type ResponseData } from '../http/responses.ts';
import { isBytes, isObject } from '../http/values.ts';
import type { FetchRequest } from './fetch-request.ts';

/**
 * Reads the body of an admitted request, or returns the response if it cannot be read. Stops once
 * `aborted` resolves.
 */
export async function readBody(
  { body, bodyUsed }: FetchRequest,
  { maxBodyBytes, requestTimeoutMs }: Pick<Limits, 'maxBodyBytes' | 'requestTimeoutMs'>,
  aborted: Promise<undefined>,
): Promise<Body> {
  if (body === null && !bodyUsed) return ok(new Uint8Array());
  const reader = bodyUsed ? undefined : readerOf(body);
  if (reader === undefined) return unreadable();
  const { promise: late, resolve } = Promise.withResolvers<Body>();
  const timer = setTimeout(() => resolve(err(errorResponse('request-timeout'))), requestTimeoutMs);
  try {
    // No response is sent after an abort.
    return (await Promise.race([aborted, late, collect(reader, maxBodyBytes)])) ?? unreadable();
  } finally {
    clearTimeout(timer);
    // Ends `collect`, too. The source may not respond.
    reader.cancel().catch(() => {});
  }
}

type Body = Result<Uint8Array, ResponseData>;

function unreadable(): Body {
  const cause = 'the body was read before this handler was called, or is not a stream of bytes';
  return err(errorResponse('internal', { cause }));
}

type Reader = Pick<ReadableStreamDefaultReader<unknown>, 'read' | 'cancel'>;

/** Returns a reader of a web stream that has none. */
function readerOf(body: unknown): Reader | undefined {
  if (!isObject(body) || !('getReader' in body)) return undefined;
  const stream = body as ReadableStream;
  return stream.locked ? undefined : stream.getReader();
}

/** Number of chunks to read before timers can run: a stream can return chunks without I/O. */
const chunksPerTurn = 1_000;

async function collect(reader: Reader, maxBytes: number): Promise<Body> {
  const buffer = new BodyBuffer(maxBytes);
  try {
    for (let reads = 1; ; reads += 1) {
      const { done, value } = await reader.read();
      if (done) return ok(buffer.bytes());
      if (!isBytes(value)) return unreadable();
      if (!buffer.add(value)) return err(errorResponse('body-too-large'));
      if (reads % chunksPerTurn === 0) await new Promise((resolve) => void setTimeout(resolve));
    }
  } catch {
    return err(errorResponse('bad-request', { message: 'the body could not be read' }));
  }
}
