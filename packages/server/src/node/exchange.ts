import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission } from '../http/admit.ts';
import { type ResponseData, errorResponse, tooManyInFlight } from '../http/response-data.ts';
import { readHead, type RequestHead } from '../http/request-head.ts';
import { requestIdOf } from '../http/request-id.ts';
import { type BodyRead, closesAfter } from './closes-after.ts';
import type { Connection, Pipelined } from './connection.ts';
import { type BodyResult, IncomingBody } from './incoming-body.ts';
import { drain } from './lingering-close.ts';
import type { RequestInfo } from '../http/request-events.ts';
import { infoOf, publishError, publishEnd, publishStart } from '../http/request-log.ts';

/**
 * The phase of an exchange. It is in flight while `reading` and `storing`; once it is `decided`, its response
 * does not change.
 */
type Phase = 'waiting' | 'reading' | 'storing' | 'decided';

const bodyRead: Readonly<Record<Phase, BodyRead>> = {
  waiting: 'nothing',
  reading: 'a part',
  storing: 'everything',
  decided: 'everything',
};

/** Maximum time for which an unwanted body is read and dropped, in milliseconds. */
const maxDrainMs = 5_000;

/** Returns the head of a request in the form that the service reads. */
export const headOf = ({ method = '', url = '', httpVersion, rawHeaders }: IncomingMessage) =>
  readHead(method, url, httpVersion, rawHeaders);

const ignore = (): void => {};

/** One request and its response. */
export class Exchange implements Pipelined {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Connection;
  readonly head: RequestHead;
  private phase: Phase = 'waiting';
  /** Whether the client waits for a `100 Continue` that is not sent yet. */
  private awaitsContinue: boolean;
  /** The response to a parse error or a timeout of the connection. */
  private brokenResponse: ResponseData | undefined;
  private readonly requestId: string;
  private readonly startedAt = performance.now();
  private requestInfo: RequestInfo | undefined;
  private tokenName: string | undefined;
  private responseData: ResponseData | undefined;
  private body: IncomingBody | undefined;
  /** Whether the response is sent or lost. */
  private isClosed = false;
  private isEndPublished = false;

  constructor(
    connection: Connection,
    request: IncomingMessage,
    response: ServerResponse,
    awaitsContinue: boolean,
  ) {
    this.connection = connection;
    this.request = request;
    this.response = response;
    this.awaitsContinue = awaitsContinue;
    this.head = headOf(request);
    this.requestId = requestIdOf(this.head.requestId);
    publishStart(this);
    // A client that disconnects early is not an error.
    response.on('error', ignore);
    response.on('close', () => this.onClosed());
  }

  /** The request in events and in the log. */
  get info(): RequestInfo {
    const { address, context } = this.connection;
    const { head, requestId } = this;
    this.requestInfo ??= infoOf(head, context.clientAddressOf(address, head), requestId);
    return this.requestInfo;
  }

  collectBody(): IncomingBody {
    this.body ??= new IncomingBody(this.request, this.connection.context.service.maxBodyBytes);
    return this.body;
  }

  /** Admits the request. */
  begin(): void {
    if (this.endsEarly()) return;
    const admission = this.connection.context.service.admit(this.head);
    if (!(admission instanceof Promise)) {
      this.onAdmission(admission);
      return;
    }
    this.connection.hold(this);
    void admission.then((later) => {
      if (!this.endsEarly()) this.onAdmission(later);
    });
  }

  /** Decides an exchange whose connection is lost, has ended or is broken, or to which another listener has responded. */
  private endsEarly(): boolean {
    const { connection, response, brokenResponse } = this;
    if (connection.hasEnded || connection.isLost || response.headersSent) this.decide();
    else if (brokenResponse !== undefined) this.decide(brokenResponse);
    return this.phase === 'decided';
  }

  private onAdmission(admission: Admission): void {
    this.tokenName = admission.tokenName;
    const { context } = this.connection;
    if (admission.kind === 'responded') this.decide(admission.responseData);
    else if (context.inFlight >= context.maxInFlight) {
      this.decide(errorResponse('unavailable', { cause: tooManyInFlight }));
    } else {
      context.inFlight += 1;
      this.phase = 'reading';
      this.connection.release();
      this.readBody();
    }
  }

  private readBody(): void {
    const { response, head } = this;
    const hasBody = head.transferEncoding !== undefined || Number(head.contentLength ?? 0) > 0;
    // A request without a body gets its final response at once (RFC 9110 §10.1.1).
    if (this.awaitsContinue && hasBody) {
      response.writeContinue();
      this.awaitsContinue = false;
    }
    this.collectBody().read((result) => this.onBody(result));
  }

  /** Stores the plant of a complete body, or sends an error. */
  private onBody(body: BodyResult): void {
    if (!(body instanceof Uint8Array)) {
      this.decide(body);
      return;
    }
    this.phase = 'storing';
    this.connection.context.service.create(body, (responseData) => this.decide(responseData));
  }

  break(responseData: ResponseData): void {
    this.brokenResponse = responseData;
    // Otherwise, it is decided in its turn.
    if (this.phase === 'reading' || this.phase === 'storing') this.decide(responseData);
  }

  /** Sends the response, if there is one, and begins the next exchange. */
  private decide(responseData?: ResponseData): void {
    if (this.phase === 'decided') return;
    if (responseData !== undefined) this.send(responseData);
    if (this.phase === 'reading' || this.phase === 'storing') this.connection.context.inFlight -= 1;
    this.phase = 'decided';
    // Another listener may leave the rest of the body, and the next request comes after it.
    this.collectBody().drop();
    this.publishIfEnded();
    this.connection.next();
  }

  private send(responseData: ResponseData): void {
    this.responseData = responseData;
    // Another listener of the server has already responded.
    if (this.response.headersSent) return;
    const { request, response } = this;
    const closes = this.closesWith(responseData);
    if (closes) this.connection.hasEnded = true;
    try {
      response.writeHead(responseData.status, this.fieldsOf(responseData, closes));
    } catch (cause) {
      // Another listener has set a field that conflicts with one of these.
      this.responseData = errorResponse('internal', { cause });
      response.destroy();
    }
    publishError(this, this.responseData);
    if (response.destroyed) return;
    if (closes && !request.complete && this.brokenResponse === undefined)
      this.sendBeforeRest(responseData.body);
    else response.end(responseData.body, responseData.isAscii === true ? 'latin1' : 'utf8');
  }

  /** Sends the body of a response, and ends it once the rest of the request is dropped. */
  private sendBeforeRest(body: string): void {
    const { request, response } = this;
    // Publishes now, because the unwanted body may take seconds to drop.
    response.write(body, (error) => {
      if (!error) this.publishEnd(true);
    });
    const stop = drain(request, maxDrainMs, () => response.end());
    // Node emits no 'close' on a request if its connection is lost after its response has ended.
    response.once('close', stop);
  }

  /** Returns whether the connection ends after a response. */
  private closesWith({ error }: ResponseData): boolean {
    const { latest, context } = this.connection;
    if (this.brokenResponse !== undefined || !this.response.shouldKeepAlive) return true;
    // The client may or may not send its body. Node ends such a connection, too.
    if (this.awaitsContinue) return true;
    if (context.isClosing() && latest === this) return true;
    return closesAfter(this.head, bodyRead[this.phase], context.service.maxBodyBytes, error);
  }

  private fieldsOf(responseData: ResponseData, closes: boolean): string[] {
    const { service } = this.connection.context;
    const fields = responseData.fields.concat(service.fieldsFor(this.head.origin));
    fields.push('X-Request-Id', this.requestId);
    if (closes) fields.push('Connection', 'close');
    return fields;
  }

  /** Handles that the response is sent, or that the connection is lost. */
  onClosed(): void {
    this.isClosed = true;
    this.connection.remove(this);
    if (this.phase === 'reading') this.decide();
    this.publishIfEnded();
  }

  private publishIfEnded(): void {
    // The end of a request whose client has disconnected is published once its response is decided.
    if (this.phase !== 'decided' || !this.isClosed) return;
    // On Node 22, `writableFinished` is also true after a connection reset.
    this.publishEnd(this.response.writableFinished && !this.connection.isLost);
  }

  private publishEnd(isWritten: boolean): void {
    if (this.isEndPublished) return;
    this.isEndPublished = true;
    const { responseData, startedAt, tokenName } = this;
    const outcome = { request: this, responseData, startedAt, tokenName, isWritten };
    publishEnd(this.connection.context.logger, outcome);
  }
}
