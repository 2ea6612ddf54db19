import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorTable } from '@plantstore/core/errors';
import type { Admission } from '../http/admit.ts';
import type { RequestHead } from '../http/request-head.ts';
import { RequestRecord } from '../http/request-record.ts';
import { errorResponse, pairsOf, type ResponseData, tooManyInFlight } from '../http/responses.ts';
import { isThenable } from '../http/values.ts';
import { type BodyResult, IncomingBody } from './incoming-body.ts';
import type { Connection, QueuedExchange } from './connection.ts';
import { drain } from './drain.ts';
import { hasRawHeaders, headOf } from './builtin-http.ts';

/**
 * One request and its response. What it calls of the app (`authenticate`, the repository, the logger, subscribers) runs
 * in the asynchronous context in which the request arrived.
 */
export class Exchange implements QueuedExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  private readonly connection: Connection;
  private readonly head: RequestHead;
  private readonly record: RequestRecord;
  private readonly context = new AsyncResource('PlantstoreRequest', { requireManualDestroy: true });
  private phase: Phase = 'waiting';
  /** Whether the client waits for a `100 Continue` that is not sent yet. */
  private awaitsContinue: boolean;
  /** The response to a parse error or a timeout of the connection. */
  private connectionFault: ResponseData | undefined;
  private body: IncomingBody | undefined;
  /** Whether the whole response was sent; `undefined` until it is sent or lost. */
  private isWritten: boolean | undefined;

  constructor(
    connection: Connection,
    request: IncomingMessage,
    response: ServerResponse,
    awaitsContinue: boolean,
  ) {
    this.connection = connection;
    this.request = request;
    this.response = response;
    this.head = headOf(request);
    // An `Expect` without an element is no field.
    this.awaitsContinue = awaitsContinue && /[^ \t,]/.test(this.head.expect ?? '');
    this.record = new RequestRecord(connection.shared, this.head, connection.address);
    // A client that disconnects early is not an error.
    response.on('error', () => {});
    // A simulated response may emit only one of them.
    response.on('finish', () => this.onClosed(true));
    response.on('close', () => this.onClosed());
  }

  collectBody(): IncomingBody {
    this.body ??= new IncomingBody(this.request, this.connection.shared.service.maxBodyBytes);
    return this.body;
  }

  beginLater(): void {
    this.context.runInAsyncScope(() => this.begin());
  }

  begin(): void {
    if (this.endsEarly()) return;
    const admission = this.connection.shared.service.admit(this.head);
    if (isThenable(admission)) {
      this.connection.hold(this);
      void admission.then((later) => this.onAdmission(later));
    } else this.onAdmission(admission);
  }

  /** Decides an exchange whose connection is lost, has ended or is broken, or to which another listener has responded. */
  private endsEarly(): boolean {
    const { connection, response, connectionFault } = this;
    if (connection.hasEnded || connection.isLost || response.headersSent) this.decide();
    else if (connectionFault !== undefined) this.decide(connectionFault);
    return this.phase === 'decided';
  }

  private onAdmission(admission: Admission): void {
    if (this.endsEarly()) return;
    const { shared } = this.connection;
    this.record.tokenName = admission.tokenName;
    if (admission.response !== undefined) this.decide(admission.response);
    else if (shared.inFlight >= shared.maxInFlight) {
      this.decide(errorResponse('unavailable', { cause: tooManyInFlight }));
    } else {
      shared.inFlight += 1;
      this.phase = 'reading';
      this.connection.release();
      this.continueIfAwaited();
      this.collectBody().read((body) => this.context.runInAsyncScope(() => this.create(body)));
    }
  }

  private continueIfAwaited(): void {
    const { transferEncoding, contentLength = 0 } = this.head;
    const hasBody = transferEncoding !== undefined || Number(contentLength) > 0;
    // A request without a body gets its final response at once (RFC 9110 §10.1.1).
    if (!this.awaitsContinue || !hasBody) return;
    this.response.writeContinue();
    this.awaitsContinue = false;
  }

  /** Creates the plant of a whole body. */
  private create(body: BodyResult): void {
    if (body.isErr()) this.decide(body.error);
    else {
      this.phase = 'storing';
      const creating = this.connection.shared.service.create(body.value);
      void creating.then((response) => this.decide(response));
    }
  }

  failWith(response: ResponseData): void {
    this.connectionFault = response;
    // Otherwise, it is decided in its turn.
    if (this.isInFlight) this.context.runInAsyncScope(() => this.decide(response));
  }

  private get isInFlight(): boolean {
    return this.phase === 'reading' || this.phase === 'storing';
  }

  /** Sends the response, if there is one, and begins the next exchange. The first decision counts. */
  private decide(response?: ResponseData): void {
    if (this.phase === 'decided') return;
    const { statusCode, headersSent } = this.response;
    if (headersSent) this.record.otherStatus = statusCode;
    if (response !== undefined) this.send(response);
    if (this.isInFlight) this.connection.shared.inFlight -= 1;
    this.phase = 'decided';
    // Another listener may leave the rest of the body, and the next request comes after it.
    this.collectBody().drop();
    this.end();
    this.connection.next();
  }

  private send(data: ResponseData): void {
    const { response, request, connection, record } = this;
    // Another listener of the server has already responded.
    if (response.headersSent) {
      record.respond(data);
      return;
    }
    const closes = this.mustCloseAfter(data);
    if (closes) connection.hasEnded = true;
    try {
      const headers = this.headersOf(data, closes);
      // Simulated responses, and wrappers of other listeners, read an object only.
      const needsObject =
        connection.socket === undefined ||
        !hasRawHeaders(request) ||
        Object.hasOwn(response, 'writeHead');
      response.writeHead(data.status, needsObject ? Object.fromEntries(pairsOf(headers)) : headers);
      record.respond(data);
    } catch (cause) {
      // Another listener has set a field that conflicts with one of these.
      record.respond(errorResponse('internal', { cause }));
      response.destroy();
    }
    if (response.destroyed) return;
    const isRestUnwanted = closes && !request.complete && connection.socket !== undefined;
    if (isRestUnwanted && this.connectionFault === undefined) {
      this.sendBeforeRest(data.body);
    } else response.end(data.body, data.isAscii === true ? 'latin1' : 'utf8');
  }

  /** Sends the body of a response, and ends it once the rest of the request is dropped. */
  private sendBeforeRest(body: string): void {
    const { request, response, record } = this;
    response.write(body, (error) => {
      // Now, because the unwanted body may take seconds to drop.
      if (!error) this.context.runInAsyncScope(() => record.end(true));
    });
    const stop = drain(request, maxDrainMs, () => response.end());
    // Node emits no 'close' on a request if its connection is lost after its response has ended.
    response.once('close', stop);
  }

  private headersOf({ headers }: ResponseData, closes: boolean): string[] {
    const ofOrigin = this.connection.shared.service.headersFor(this.head.origin);
    const ofConnection = closes ? ['Connection', 'close'] : [];
    return [...headers, ...ofOrigin, 'X-Request-Id', this.record.id, ...ofConnection];
  }

  private mustCloseAfter({ error }: ResponseData): boolean {
    const { latest, shared } = this.connection;
    if (this.connectionFault !== undefined || !this.response.shouldKeepAlive) return true;
    // The client may or may not send its body. Node ends such a connection, too.
    if (this.awaitsContinue) return true;
    if (shared.isClosing() && latest === this) return true;
    return endsConnection(this.head, this.phase, shared.service.maxBodyBytes, error);
  }

  onClosed(isFinished = this.response.writableFinished): void {
    if (this.isWritten !== undefined) return;
    this.isWritten = isFinished && !this.connection.hasFailed;
    const { shared } = this.connection;
    if (!this.isWritten && shared.cut !== undefined) {
      shared.cut += 1;
      this.record.isCut = true;
    }
    this.connection.remove(this);
    this.context.runInAsyncScope(() => this.end());
  }

  /** Ends an exchange whose response is sent, or whose connection is lost. */
  private end(): void {
    const { phase, isWritten, connection } = this;
    // Of a lost connection, exchanges that wait are not kept, either.
    if (phase === 'reading' || (phase === 'waiting' && connection.isLost)) this.decide();
    // The end of a request whose client has disconnected is published once its response is decided.
    else if (phase === 'decided' && isWritten !== undefined) {
      this.record.end(isWritten);
      this.context.emitDestroy();
    }
  }
}

/**
 * The phase of an exchange. It is in flight while `reading` and `storing`; once it is `decided`, its response
 * does not change.
 */
type Phase = 'waiting' | 'reading' | 'storing' | 'decided';

/**
 * Returns whether a response with this error number, or a success, has to end the connection (RFC 9112 §9.6):
 * the next request could not be found, or a body that is too large would have to be read first.
 */
export function endsConnection(
  head: RequestHead,
  phase: Phase,
  maxBodyBytes: number,
  error: number | undefined,
): boolean {
  const { upgrade, method, target, transferEncoding, contentLength = 0 } = head;
  // For another protocol (Node drops bytes of the next request that have already arrived) or for a proxy.
  if (upgrade !== undefined || method === 'TRACE' || !target.startsWith('/')) return true;
  if (phase !== 'waiting') return phase === 'reading';
  // A small body is read and dropped.
  const isSmall = transferEncoding === undefined && Number(contentLength) <= maxBodyBytes;
  return framingErrors.has(error) || !isSmall;
}

/** Errors after which the start of the next request is unknown. */
const framingErrors: ReadonlySet<number | undefined> = new Set([
  errorTable['bad-request'].error,
  errorTable['headers-too-large'].error,
]);

/** Maximum time for which an unwanted body is read and dropped, in milliseconds. */
const maxDrainMs = 5_000;
