import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission } from '../http/admit.ts';
import { type ResponseData, errorResponse, tooManyInFlight } from '../http/response-data.ts';
import { readHead, type RequestHead } from '../http/request-head.ts';
import { requestIdOf } from '../http/request-id.ts';
import { type BodyRead, closesAfter } from './closes-after.ts';
import { type Connection, maxPipelined } from './connection.ts';
import { IncomingBody } from './incoming-body.ts';
import { drain } from './lingering-close.ts';
import type { RequestInfo } from '../http/request-events.ts';
import { infoOf, reportResponse, reportEnd, reportStart } from '../http/request-report.ts';

/**
 * The phase of an exchange. It is in flight while `reading` and `storing`; once it is `decided`, its response
 * does not change.
 */
type Phase = 'waiting' | 'admitting' | 'reading' | 'storing' | 'decided';

const bodyRead: Readonly<Record<Phase, BodyRead>> = {
  waiting: 'nothing',
  admitting: 'nothing',
  reading: 'a part',
  storing: 'everything',
  decided: 'everything',
};

/** Maximum time for which an unwanted body is read and dropped, in milliseconds. */
const maxDrainMs = 5_000;

const tooManyWait = `more than ${maxPipelined} pipelined requests wait for their responses`;

/** Methods of RTSP: Node's parser accepts them only in a request line with RTSP. */
const rtspMethod =
  /^(?:ANNOUNCE|DESCRIBE|FLUSH|[GS]ET_PARAMETER|PAUSE|PLAY|RECORD|REDIRECT|SETUP|TEARDOWN)$/;

/** Returns the head of a request in the form that the service reads. */
export const headOf = ({ method = '', url = '', httpVersion, rawHeaders }: IncomingMessage) =>
  readHead(method, url, rtspMethod.test(method) ? 'RTSP' : httpVersion, rawHeaders);

/** One request and its response. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Connection;
  readonly head: RequestHead;
  private phase: Phase = 'waiting';
  /** Whether the request exceeds the limit of pipelined requests. */
  private readonly isExcess: boolean;
  /** Whether the client waits for a `100 Continue` that is not sent yet. */
  private awaitsContinue: boolean;
  /** Whether the connection has a parse error or a timeout. */
  private isBroken = false;
  private readonly requestId: string;
  private readonly startedAt = performance.now();
  private requestInfo: RequestInfo | undefined;
  private tokenName: string | undefined;
  private responseData: ResponseData | undefined;
  private body: IncomingBody | undefined;
  /** The response to a parse error or a timeout that occurred while the exchange was waiting. */
  private pendingResponse: ResponseData | undefined;
  /** Whether the response is sent or lost. */
  private isClosed = false;
  private isReported = false;

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
    this.isExcess = connection.isFull;
    this.head = headOf(request);
    this.requestId = requestIdOf(this.head.requestId);
    reportStart(this);
    // A client that disconnects early is not an error.
    response.on('error', () => {});
    response.on('close', () => this.onClosed());
  }

  /** The request in events and in the log. */
  get info(): RequestInfo {
    const { address, context } = this.connection;
    const { head, requestId } = this;
    this.requestInfo ??= infoOf(head, context.clientAddressOf(address, head), requestId);
    return this.requestInfo;
  }

  /** Starts to collect the body of a request that is not admitted yet. */
  collectBody(): IncomingBody {
    this.body ??= new IncomingBody(this);
    return this.body;
  }

  /** Admits the request; called once the exchanges before it are decided. */
  begin(): void {
    try {
      if (this.connection.hasEnded || this.request.socket.destroyed) {
        this.request.resume();
        this.decide();
      } else if (this.response.headersSent) {
        // Another listener of the server has already responded.
        this.decide();
      } else if (this.pendingResponse !== undefined) {
        this.decide(this.pendingResponse);
      } else if (this.isExcess) {
        this.decide(errorResponse('unavailable', { cause: tooManyWait }));
      } else {
        this.phase = 'admitting';
        const admission = this.connection.context.service.admit(this.head);
        if (admission instanceof Promise) {
          this.collectBody();
          admission
            .then((later) => this.onAdmission(later))
            .catch((cause: unknown) => this.fail(cause));
        } else this.onAdmission(admission);
      }
    } catch (cause) {
      this.fail(cause);
    }
  }

  private onAdmission(admission: Admission): void {
    this.tokenName = admission.tokenName;
    const { connection } = this;
    const { context } = connection;
    if (this.responseData !== undefined || this.request.socket.destroyed) {
      // The connection failed while the token was checked.
      this.decide();
    } else if (admission.kind === 'responded') {
      connection.refusals = 0;
      this.decide(admission.responseData);
    } else if (context.inFlight >= context.maxInFlight) {
      const { retryAfterSeconds } = connection;
      connection.backOff();
      this.decide(errorResponse('unavailable', { cause: tooManyInFlight, retryAfterSeconds }));
    } else {
      connection.refusals = 0;
      context.inFlight += 1;
      this.phase = 'reading';
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
    this.collectBody().read();
  }

  /** Stores the plant of a complete body, or sends an error. */
  onBody(body: Uint8Array | ResponseData): void {
    if (!(body instanceof Uint8Array)) {
      this.decide(body);
      return;
    }
    this.phase = 'storing';
    try {
      this.connection.context.service.create(body, (responseData) => this.decide(responseData));
    } catch (cause) {
      this.fail(cause);
    }
  }

  private fail(cause: unknown): void {
    this.decide(errorResponse('internal', { cause }));
  }

  /** Responds to a request whose connection has a parse error or a timeout, in the order of responses. */
  break(responseData: ResponseData): void {
    this.isBroken = true;
    if (this.phase === 'waiting') this.pendingResponse = responseData;
    else if (this.phase === 'admitting') this.send(responseData);
    else this.decide(responseData);
  }

  /** Sends the response, if there is one, and begins the next exchange. */
  private decide(responseData?: ResponseData): void {
    if (this.phase === 'decided') return;
    if (responseData !== undefined) this.send(responseData);
    if (this.phase === 'reading' || this.phase === 'storing') this.connection.context.inFlight -= 1;
    this.phase = 'decided';
    this.body?.drop();
    this.reportIfEnded();
    this.connection.next();
  }

  private send(responseData: ResponseData): void {
    if (this.responseData !== undefined) return;
    this.responseData = responseData;
    // Another listener of the server has already responded.
    if (this.response.headersSent) return;
    if (responseData.error !== undefined) reportResponse(this, responseData);
    const { request, response } = this;
    const closes = this.closesWith(responseData);
    if (closes) this.connection.hasEnded = true;
    response.writeHead(responseData.status, this.fieldsOf(responseData, closes));
    if (!closes || request.complete || this.isBroken) {
      response.end(responseData.body, responseData.isAscii === true ? 'latin1' : 'utf8');
      return;
    }
    // Reports now, because the unwanted body may take seconds to drop.
    response.write(responseData.body, (error) => {
      if (!error) this.report(true);
    });
    const stop = drain(request, maxDrainMs, () => response.end());
    // Node emits no 'close' on a request if its connection is lost after its response has ended.
    response.once('close', stop);
  }

  /** Returns whether the connection ends after a response. */
  private closesWith({ error }: ResponseData): boolean {
    const { latest, context } = this.connection;
    if (this.isBroken || this.isExcess || !this.response.shouldKeepAlive) return true;
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
    if (this.isClosed) return;
    this.isClosed = true;
    this.connection.remove(this);
    if (this.phase === 'reading') this.decide();
    this.reportIfEnded();
  }

  private reportIfEnded(): void {
    // A request whose client has disconnected is reported once its response is decided.
    if (this.phase !== 'decided' || !this.isClosed) return;
    // On Node 22, `writableFinished` is also true after a connection reset.
    this.report(this.response.writableFinished && !this.request.socket.destroyed);
  }

  private report(isWritten: boolean): void {
    if (this.isReported) return;
    this.isReported = true;
    const { responseData, startedAt, tokenName } = this;
    const outcome = { request: this, responseData, startedAt, tokenName, isWritten };
    reportEnd(this.connection.context.logger, outcome);
  }
}
