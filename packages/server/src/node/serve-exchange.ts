import type { IncomingMessage } from 'node:http';
import type { ErrorName } from '@plantstore/core/errors';
import { type Answer, errorAnswer } from '../http/answer.ts';
import type { Service } from '../http/service.ts';
import type { Ending, Exchange } from './exchange.ts';
import { readBody } from './read-body.ts';

/** How many more requests may be in the works. */
export type Slots = { readonly take: () => boolean; readonly giveBack: () => void };

export const createSlots = (count: number): Slots => {
  let free = count;
  return {
    take() {
      if (free === 0) return false;
      free -= 1;
      return true;
    },
    giveBack() {
      free += 1;
    },
  };
};

/** After these, what follows on the connection may be no request. */
const endsConnection: ReadonlySet<unknown> = new Set<ErrorName>([
  'bad-request',
  'headers-too-large',
]);

/** Keeps the connection only where the body that nobody wants is known to be small. */
const endingWithoutBody = (
  { headers }: IncomingMessage,
  { error }: Answer,
  maxBodyBytes: number,
): Ending => {
  const { 'content-length': length = 0, 'transfer-encoding': coding } = headers;
  // Whether a body follows that was to be expected, nobody knows.
  const isKnown =
    coding === undefined && headers.expect === undefined && !endsConnection.has(error);
  return isKnown && Number(length) <= maxBodyBytes ? 'keep' : 'close';
};

const answerBody = async (service: Service, { request, answer }: Exchange): Promise<void> => {
  const body = await readBody(request, service.maxBodyBytes);
  switch (body.kind) {
    case 'read':
      answer(await service.create(body.bytes));
      break;
    case 'too-large':
      answer(errorAnswer('body-too-large'), 'close');
      break;
    case 'broken-off':
      break;
    case 'not-ours':
      answer(
        errorAnswer('internal', { cause: 'the body was read before this listener was called' }),
        'close',
      );
      break;
  }
};

type Circumstances = {
  /** Whether the `100 Continue` is left to us. */
  readonly answersContinue: boolean;
  /** When the client is to come back if there are too many requests. */
  readonly retryAfterSeconds: number;
};

/** Admits a request and answers it. */
export const serveExchange = async (
  service: Service,
  slots: Slots,
  exchange: Exchange,
  { answersContinue, retryAfterSeconds }: Circumstances,
): Promise<'served' | 'overloaded'> => {
  const { request, answer } = exchange;
  const { method = '', url: target = '', httpVersion, rawHeaders } = request;
  const admission = await service.admit({ method, target, httpVersion, rawHeaders });
  const answerFromHead = (told: Answer) =>
    answer(told, endingWithoutBody(request, told, service.maxBodyBytes));
  if (admission.kind === 'answered') {
    answerFromHead(admission.answer);
    return 'served';
  }
  if (!slots.take()) {
    const cause = 'as many requests as may be are in the works (maxInFlight)';
    answerFromHead(errorAnswer('unavailable', { cause, retryAfterSeconds }));
    return 'overloaded';
  }
  try {
    // Where no body follows, the final response comes at once (RFC 9110 §10.1.1).
    if (answersContinue && Number(request.headers['content-length'] ?? 1) > 0) {
      exchange.response.writeContinue();
    }
    await answerBody(service, exchange);
  } finally {
    slots.giveBack();
  }
  return 'served';
};
