import { AsyncResource } from 'node:async_hooks';
import type { Admission } from '../http/admit.ts';
import { RequestRecord, type RequestSource } from '../http/request-record.ts';
import { type ResponseData, tooManyInFlight } from '../http/responses.ts';
import type { Service } from '../http/service.ts';
import { isThenable } from '../http/values.ts';
import type { BodyResult } from './connection/incoming.ts';
import type { Exchanging, Turn } from './connection/turn.ts';

/**
 * What the service does with one request. It is
 * - `waiting` for the requests before it and for its admission;
 * - `reading` its body, once it is admitted: from here on it is in flight;
 * - `storing` its plant, once its body is whole;
 * - `sending` a response, and `decided` once that is handed over: the next request begins. The end
 *   of its response is published and logged, before or after.
 *
 * It is decided early if its connection is lost or ending, if what arrives cannot be parsed, or if
 * another listener has responded. What it calls of the app (`authenticate`, the repository, the
 * logger, subscribers) runs in the asynchronous context in which the request arrived.
 */
export class Exchange implements Exchanging {
  readonly #turn: Turn;
  readonly #shared: SharedState;
  readonly #record: RequestRecord;
  readonly #context = new AsyncResource('PlantstoreRequest');
  #phase: 'waiting' | 'reading' | 'storing' | 'sending' | 'decided' = 'waiting';
  /** How the response has ended; `undefined` until it has. */
  #ended: { readonly isWritten: boolean; readonly otherStatus: number | undefined } | undefined;

  constructor(turn: Turn, shared: SharedState) {
    this.#turn = turn;
    this.#shared = shared;
    this.#record = new RequestRecord(shared, turn.head, turn.address);
  }

  begin(isLater: boolean): void {
    // One that begins as it arrives is in its context already.
    if (isLater) this.#context.runInAsyncScope(() => this.#requestAdmission());
    else this.#requestAdmission();
  }

  #requestAdmission(): void {
    if (this.#isDecidedEarly()) return;
    const admission = this.#shared.service.admit(this.#turn.head);
    if (isThenable(admission)) void admission.then((later) => this.#onAdmission(later));
    else this.#onAdmission(admission);
  }

  #isDecidedEarly(): boolean {
    const { outcome } = this.#turn;
    // It may have been decided while it waited.
    if (outcome !== undefined && this.#phase === 'waiting') this.#decide(outcome.response);
    return this.#phase === 'decided';
  }

  #onAdmission(admission: Admission): void {
    if (this.#isDecidedEarly()) return;
    this.#record.tokenName = admission.tokenName;
    if (admission.response !== undefined) this.#decide(admission.response);
    else if (this.#shared.inFlight >= this.#shared.maxInFlight) this.#decide(tooManyInFlight);
    else {
      this.#shared.inFlight += 1;
      this.#phase = 'reading';
      this.#turn.read((body) => this.#context.runInAsyncScope(() => this.#run(body)));
    }
  }

  /** Runs the operation on a whole body. */
  #run(body: BodyResult): void {
    if (body.isErr()) this.#decide(body.error);
    else {
      this.#phase = 'storing';
      const responded = this.#shared.service.respond(this.#turn.head, body.value);
      void responded.then((response) => this.#decide(response));
    }
  }

  /** Sends the response, if there is one, and lets the next request begin. Called once. */
  #decide(response?: ResponseData): void {
    if (this.#phase !== 'waiting') this.#shared.inFlight -= 1;
    this.#phase = 'sending';
    if (response !== undefined) this.#record.respond(this.#send(response));
    this.#phase = 'decided';
    this.#endIfEnded();
    this.#turn.leave();
  }

  #send(response: ResponseData): ResponseData {
    const ofOrigin = this.#shared.service.headersFor(this.#turn.head.origin);
    const headers = [...response.headers, ...ofOrigin, 'X-Request-Id', this.#record.id];
    return this.#turn.send(response, headers);
  }

  end(isWritten: boolean, otherStatus: number | undefined): void {
    this.#ended = { isWritten, otherStatus };
    if (!isWritten && this.#shared.cut !== undefined) {
      this.#shared.cut += 1;
      this.#record.isCut = true;
    }
    this.#context.runInAsyncScope(() => {
      // Of a lost connection, requests that wait are not kept, either.
      if (this.#phase === 'reading' || (this.#phase === 'waiting' && !isWritten)) this.#decide();
      else if (this.#phase === 'decided') this.#endIfEnded();
    });
  }

  /** The end of a request whose client has disconnected is published once it is decided. */
  #endIfEnded(): void {
    if (this.#ended === undefined) return;
    const { isWritten, otherStatus } = this.#ended;
    this.#record.end(isWritten, otherStatus);
  }
}

/** What the exchanges of a server share. */
export type SharedState = RequestSource & {
  readonly service: Service;
  /** Maximum number of requests in flight: admitted, and not decided. */
  readonly maxInFlight: number;
  inFlight: number;
  /** Number of requests that the deadline of a stop has cut; `undefined` before it. */
  cut?: number;
};
