import { err, ok, type Result } from 'neverthrow';
import { BodyBuffer } from '../http/body-buffer.ts';
import type { Limits } from '../http/options.ts';
import { errorResponse, type ResponseData } from '../http/responses.ts';
import { isBytes, isObject } from '../http/values.ts';
import { type FetchRequest, signalOf } from './fetch-request.ts';

/** Reads the body of an admitted request, or returns the response if it cannot be read. */
export async function readBody(
  request: FetchRequest,
  { maxBodyBytes, requestTimeoutMs }: Pick<Limits, 'maxBodyBytes' | 'requestTimeoutMs'>,
): Promise<Body> {
  const { body, bodyUsed } = request;
  const signal = signalOf(request);
  if (body === null && !bodyUsed) return ok(new Uint8Array());
  const chunks = bodyUsed ? undefined : chunksOf(body);
  if (chunks === undefined) return unreadable();
  const { promise: stopped, resolve } = Promise.withResolvers<Body>();
  const stop = (name: 'bad-request' | 'request-timeout') => resolve(err(errorResponse(name)));
  // No response is sent after an abort.
  const onAbort = () => stop('bad-request');
  const timer = setTimeout(() => stop('request-timeout'), requestTimeoutMs);
  const reading = new AbortController();
  signal?.addEventListener('abort', onAbort);
  if (signal?.aborted === true) onAbort();
  try {
    return await Promise.race([stopped, collect(chunks, maxBodyBytes, reading.signal)]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    reading.abort();
    chunks.cancel().catch(() => {});
  }
}

type Body = Result<Uint8Array, ResponseData>;

function unreadable(): Body {
  const cause = 'the body was read before this handler was called, or is not a stream of bytes';
  return err(errorResponse('internal', { cause }));
}

type Chunks = {
  readonly next: () => Promise<{ readonly done?: boolean; readonly value?: unknown }>;
  /** Stops the source. It may not respond, and a read may stay pending. */
  readonly cancel: () => Promise<unknown>;
};

/**
 * Returns the chunks of bytes, a web stream, a Node stream or another async iterable, if it is one.
 */
function chunksOf(body: unknown): Chunks | undefined {
  if (!isObject(body)) return undefined;
  const stream = body as Partial<ReadableStream & NodeJS.ReadableStream & { destroy: () => void }>;
  if (stream.getReader !== undefined) {
    if (stream.locked === true) return undefined;
    const reader = stream.getReader();
    return { next: async () => reader.read(), cancel: async () => reader.cancel() };
  }
  const iterator = isBytes(body) ? [body].values() : stream[Symbol.asyncIterator]?.();
  return (
    iterator && {
      next: async () => iterator.next(),
      async cancel() {
        // A pending read of a stream of Node would delay `return`.
        stream.destroy?.();
        await iterator.return?.();
      },
    }
  );
}

/** Number of chunks to read before timers can run: a stream can return chunks without I/O. */
const chunksPerTurn = 1_000;

async function collect(chunks: Chunks, maxBytes: number, reading: AbortSignal): Promise<Body> {
  const buffer = new BodyBuffer(maxBytes);
  try {
    for (let reads = 1; ; reads += 1) {
      const { done, value } = await chunks.next();
      if (done === true || reading.aborted) return ok(buffer.bytes());
      if (!isBytes(value)) return unreadable();
      if (!buffer.add(value)) return err(errorResponse('body-too-large'));
      if (reads % chunksPerTurn === 0) await new Promise((resolve) => void setTimeout(resolve));
    }
  } catch {
    return err(errorResponse('bad-request', { message: 'the body could not be read' }));
  }
}
