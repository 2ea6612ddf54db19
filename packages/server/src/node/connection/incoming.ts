import type { IncomingMessage } from 'node:http';
import { err, ok, type Result } from 'neverthrow';
import { BodyBuffer } from '../../http/body-buffer.ts';
import { readHead, type RequestHead } from '../../http/request-head.ts';
import { errorResponse, type ResponseData } from '../../http/responses.ts';
import { isBytes } from '../../http/values.ts';

/** Returns the head of a request in the form that the service reads. */
export function headOfIncoming(request: IncomingMessage): RequestHead {
  const { method = '', url = '', rawHeaders } = request;
  const { httpVersion = '1.1', headers = {} } = request as Partial<IncomingMessage>;
  if (hasRawHeaders(request)) return readHead(method, url, httpVersion, rawHeaders);
  const fields = Object.entries(headers).flatMap(([name, values = []]) =>
    [values].flat().flatMap((value) => [name, value]),
  );
  return readHead(method, url, httpVersion, fields);
}

/**
 * Returns whether a request has its fields as they were sent. A simulated one may have `headers`.
 */
export function hasRawHeaders({ rawHeaders }: Partial<IncomingMessage>): boolean {
  return rawHeaders !== undefined && rawHeaders.length > 0;
}

/**
 * The body of a request, collected from its first byte. Node would buffer each chunk separately
 * until the request is admitted, which takes much more memory for a chunk of one byte.
 */
export class IncomingBody {
  /** `undefined` once the body is settled or dropped. */
  #buffer: BodyBuffer | undefined;
  #result: BodyResult | undefined;
  #onResult: ((body: BodyResult) => void) | undefined;

  constructor(request: IncomingMessage, maxBytes: number) {
    this.#buffer = new BodyBuffer(maxBytes);
    // A simulated request may not be a stream.
    const { readable = true, readableDidRead = false } = request as Partial<IncomingMessage>;
    if (readableDidRead || !readable) this.fail(unreadable);
    // Reads by itself, because another listener may pause it. Before 'data', which would otherwise
    // resume it.
    request.on('readable', () => {
      while (request.read() !== null);
    });
    // Emitted for each read, also for those of other listeners.
    request.on('data', (chunk: unknown) => this.#add(chunk));
    request.on('end', () => {
      if (this.#buffer !== undefined) this.#settle(ok(this.#buffer.bytes()));
    });
    // Before the end: another listener has destroyed it, or its connection is lost. A simulated one
    // may only emit an error.
    for (const event of ['close', 'error']) request.on(event, () => this.fail(unreadable));
  }

  get isWhole(): boolean {
    return this.#result?.isOk() === true;
  }

  /**
   * Calls back once: when the body is complete or cannot be read. Never, if the body is dropped
   * before.
   */
  read(onResult: (body: BodyResult) => void): void {
    if (this.#result === undefined) this.#onResult = onResult;
    else onResult(this.#result);
  }

  /** Drops the rest of the body as it arrives. */
  drop(): void {
    this.#buffer = undefined;
    this.#onResult = undefined;
  }

  #add(chunk: unknown): void {
    if (this.#buffer === undefined) return;
    // Another listener has set an encoding.
    if (!isBytes(chunk)) this.fail(unreadable);
    else if (!this.#buffer.add(chunk)) this.#settle(err(errorResponse('body-too-large')));
  }

  /** Settles as the response to a body that cannot be read, unless it is settled. */
  fail(response: ResponseData): void {
    if (this.#buffer !== undefined) this.#settle(err(response));
  }

  #settle(result: BodyResult): void {
    this.#buffer = undefined;
    this.#result = result;
    this.#onResult?.(result);
  }
}

/** The whole body, or the response if it cannot be read. */
export type BodyResult = Result<Uint8Array, ResponseData>;

/** Made once, because every request is closed. */
const unreadable = errorResponse('internal', {
  cause: 'another listener of the request has read or destroyed it',
});
