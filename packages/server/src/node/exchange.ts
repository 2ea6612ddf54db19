import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission } from '../http/admit.ts';
import { type Answer, errorAnswer } from '../http/answer.ts';
import { readHead, type RequestHead } from '../http/request-head.ts';
import { requestIdOf } from '../http/request-id.ts';
import { closesAfter } from './closes-after.ts';
import { type Connection, maxPipelined } from './connection.ts';
import { IncomingBody } from './incoming-body.ts';
import { drain } from './lingering-close.ts';
import type { RequestInfo } from '../request-events.ts';
import { infoOf, reportAnswer, reportEnd, reportStart } from '../http/request-report.ts';

/**
 * How far an exchange has come. While it reads and stores, it is in flight; `decided` is where no other
 * answer will be given.
 */
export type Phase = 'waiting' | 'admitting' | 'reading' | 'storing' | 'decided';

/** For how long an unwanted body is dropped, in milliseconds. */
const maxDrainMs = 5_000;

const tooManyWait = `more than ${maxPipelined} requests of a connection wait for their responses`;
const tooManyInFlight = 'as many requests are in flight as may be (maxInFlight)';
const bodyIsLost = 'the body was read before this listener was called';

const exchangeKey = Symbol('exchange');
type WithExchange = { [exchangeKey]?: Exchange };

// Shared by all exchanges, because creating a listener for each takes longer than the checks.
const ignore = (): void => {};
function onClose(this: WithExchange) {
  this[exchangeKey]?.onClosed();
}

/** Methods of RTSP alone: Node's parser accepts them only where the request line names RTSP. */
const rtspMethods: ReadonlySet<string> = new Set(
  (
    'ANNOUNCE DESCRIBE FLUSH GET_PARAMETER PAUSE PLAY RECORD REDIRECT SETUP SET_PARAMETER ' +
    'TEARDOWN'
  ).split(' '),
);

/** The head of a request as the service reads it. */
export const headOf = ({ method = '', url = '', httpVersion, rawHeaders }: IncomingMessage) =>
  readHead(method, url, rtspMethods.has(method) ? 'RTSP' : httpVersion, rawHeaders);

/** One request and its answer. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Connection;
  readonly head: RequestHead;
  phase: Phase = 'waiting';
  /** Whether more requests of the connection wait than may. */
  readonly isExcess: boolean;
  /** Whether the client expects a `100 Continue` that it has not had. */
  awaitsContinue: boolean;
  /** Whether the bytes of the connection are not HTTP any more. */
  isBroken = false;

  private readonly requestId: string;
  private readonly startedAt = performance.now();
  private requestInfo: RequestInfo | undefined;
  private tokenName: string | undefined;
  private answer: Answer | undefined;
  private body: IncomingBody | undefined;
  /** The answer where the connection broke before it was this request's turn. */
  private pendingAnswer: Answer | undefined;
  /** Whether nothing more can be sent. */
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
    (response as WithExchange)[exchangeKey] = this;
    // A client that leaves early is not an error; what was written for it is dropped.
    response.on('error', ignore);
    response.on('close', onClose);
  }

  /** The request in events and in the log. */
  get info(): RequestInfo {
    const { address, context } = this.connection;
    const client = context.clientAddressOf(address, this.head);
    this.requestInfo ??= infoOf(this.head, client, this.requestId);
    return this.requestInfo;
  }

  /** Starts to collect the body of a request that waits. */
  collectBody(): IncomingBody {
    this.body ??= new IncomingBody(this.request, this.connection.context.service.maxBodyBytes);
    return this.body;
  }

  /** Admits the request, in its turn. */
  begin(): void {
    try {
      if (this.connection.hasEnded || this.request.socket.destroyed) {
        this.request.resume();
        this.decide();
      } else if (this.response.headersSent) {
        // Another listener of the server has sent a response of its own.
        this.decide();
      } else if (this.pendingAnswer !== undefined) {
        this.decide(this.pendingAnswer);
      } else if (this.isExcess) {
        this.decide(errorAnswer('unavailable', { cause: tooManyWait }));
      } else {
        this.phase = 'admitting';
        const admission = this.connection.context.service.admit(this.head);
        if (admission instanceof Promise) {
          this.collectBody();
          admission.then((later) => this.goOn(later)).catch((cause: unknown) => this.fail(cause));
        } else this.goOn(admission);
      }
    } catch (cause) {
      this.fail(cause);
    }
  }

  private goOn(admission: Admission): void {
    this.tokenName = admission.tokenName;
    const { connection } = this;
    const { context } = connection;
    if (this.answer !== undefined || this.request.socket.destroyed) {
      // The connection broke, or was lost, while the token was checked.
      this.decide();
    } else if (admission.kind === 'answered') {
      connection.refusals = 0;
      this.decide(admission.answer);
    } else if (context.inFlight >= context.maxInFlight) {
      const { retryAfterSeconds } = connection;
      connection.backOff();
      this.decide(errorAnswer('unavailable', { cause: tooManyInFlight, retryAfterSeconds }));
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
    // Where no body follows, the final response comes at once (RFC 9110 §10.1.1).
    if (this.awaitsContinue && hasBody) {
      response.writeContinue();
      this.awaitsContinue = false;
    }
    this.collectBody().read(this);
  }

  /** Stores the body, or refuses it. */
  onBody(body: IncomingBody): void {
    switch (body.state) {
      case 'complete':
        this.store(body.take());
        break;
      case 'too-large':
        this.decide(errorAnswer('body-too-large'));
        break;
      case 'lost':
        this.decide(errorAnswer('internal', { cause: bodyIsLost }));
        break;
      case 'arriving':
        break;
    }
  }

  private store(bytes: Uint8Array): void {
    this.phase = 'storing';
    try {
      const answer = this.connection.context.service.create(bytes);
      if (answer instanceof Promise) {
        answer.then(
          (later) => this.decide(later),
          (cause: unknown) => this.fail(cause),
        );
      } else this.decide(answer);
    } catch (cause) {
      this.fail(cause);
    }
  }

  private fail(cause: unknown): void {
    this.decide(errorAnswer('internal', { cause }));
  }

  /** Answers a request whose connection cannot go on: through this response, in its turn. */
  break(answer: Answer): void {
    this.isBroken = true;
    if (this.phase === 'waiting') this.pendingAnswer = answer;
    else if (this.phase === 'admitting') this.send(answer);
    else this.decide(answer);
  }

  /** Sends the answer, if there is one, and lets the next request begin. */
  private decide(answer?: Answer): void {
    if (this.phase === 'decided') return;
    if (answer !== undefined) this.send(answer);
    if (this.phase === 'reading' || this.phase === 'storing') this.connection.context.inFlight -= 1;
    this.phase = 'decided';
    this.body?.drop();
    this.reportIfEnded();
    this.connection.next();
  }

  private send(answer: Answer): void {
    if (this.answer !== undefined) return;
    this.answer = answer;
    // Another listener of the server has sent a response of its own.
    if (this.response.headersSent) return;
    if (answer.error !== undefined) reportAnswer(this, answer);
    const { request, response } = this;
    const closes = closesAfter(this, answer);
    if (closes) this.connection.hasEnded = true;
    response.writeHead(answer.status, this.fieldsOf(answer, closes));
    if (!closes || request.complete || this.isBroken) {
      response.end(answer.body);
      return;
    }
    // The client can read the whole response while its unwanted body is still being dropped.
    response.write(answer.body, (error) => {
      if (!error) this.report(true);
    });
    drain(request, maxDrainMs, () => response.end());
  }

  private fieldsOf(answer: Answer, closes: boolean): string[] {
    const fields = [
      ...answer.fields,
      ...this.connection.context.service.fieldsFor(this.head.origin),
    ];
    fields.push('X-Request-Id', this.requestId);
    if (closes) fields.push('Connection', 'close');
    return fields;
  }

  /** Handles that nothing more can be sent: all of it is, or the connection is lost. */
  onClosed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.connection.remove(this);
    if (this.phase === 'reading') this.decide();
    this.reportIfEnded();
  }

  private reportIfEnded(): void {
    // A failure after the client has left is reported, too.
    if (this.phase !== 'decided' || !this.isClosed) return;
    // On Node 22 a response whose connection was reset is finished, too.
    this.report(this.response.writableFinished && !this.request.socket.destroyed);
  }

  private report(isWritten: boolean): void {
    if (this.isReported) return;
    this.isReported = true;
    const { answer, startedAt, tokenName } = this;
    const outcome = { request: this, answer, startedAt, tokenName, isWritten };
    reportEnd(this.connection.context.logger, outcome);
  }
}
