import { authorityOf, readHead, type RequestHead } from '../http/request-head.ts';

/** What the handler reads of a `Request`, so that those of adapters are accepted, too. */
export type FetchRequest = Pick<Request, 'method' | 'url' | 'bodyUsed'> & {
  /** The header fields. */
  readonly headers: Pick<Headers, 'forEach'>;
  /** A web stream of bytes; `null` for none. */
  readonly body: object | null;
  /** Aborts the request. Default: it is never aborted. */
  readonly signal?: FetchSignal | null;
};

/** What the handler uses of an `AbortSignal`. */
export type FetchSignal = Pick<
  AbortSignal,
  'aborted' | 'addEventListener' | 'removeEventListener'
> &
  Partial<Pick<AbortSignal, 'reason'>>;

/**
 * Reads a head without parsing the URL. Bun, Deno and workerd put a malformed Host field into the
 * URL as it is, or leave only the path.
 */
export function headOfRequest({ method, url, headers }: FetchRequest): RequestHead {
  const [target = ''] = url.split('#', 1);
  const fields: string[] = [];
  headers.forEach((value, name) => void fields.push(name, value));
  const head = readHead(method, target, '1.1', fields);
  if (head.host !== undefined) return head;
  // A request that did not come from a server has no Host field. A server that requires Host in
  // HTTP/1.1 passes on only the path of a request of HTTP/1.0.
  const httpVersion = target.startsWith('/') ? '1.0' : '1.1';
  return { ...head, host: authorityOf(head), httpVersion };
}

/**
 * Returns the signal of a request. One of an adapter may have none, or throw because of its URL.
 */
export function signalOf(request: FetchRequest): FetchSignal | undefined {
  try {
    return request.signal ?? undefined;
  } catch {
    return undefined;
  }
}
