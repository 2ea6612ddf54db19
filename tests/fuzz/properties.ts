import { type ErrorName, errorTable } from '@plantstore/core/errors';
import type { Client } from './grammar.ts';
import type { ReadRequest } from './reference.ts';

/** A parsed answer. */
export type ReadAnswer = {
  readonly status: number;
  readonly fields: ReadonlyMap<string, string>;
  readonly body: string;
};

/** The statuses that a client without a valid token may get. */
const unauthenticatedStatuses = new Set([400, 401, 404, 405, 408, 413, 417, 431, 501, 503]);
const authenticatedStatuses = new Set([...unauthenticatedStatuses, 200, 415]);

const byNumber: ReadonlyMap<number, { readonly status: number }> = new Map(
  (Object.keys(errorTable) as ErrorName[]).map((name) => [
    errorTable[name].error,
    errorTable[name],
  ]),
);

const ensure = (isTrue: boolean, property: string): void => {
  if (!isTrue) throw new Error(property);
};

/** Parses the answers to some requests strictly; throws for an extra or a missing byte. */
export const readAnswers = (received: string, requests: readonly ReadRequest[]): ReadAnswer[] => {
  const answers: ReadAnswer[] = [];
  let at = 0;
  while (at < received.length) {
    const end = received.indexOf('\r\n\r\n', at);
    ensure(end !== -1, 'an answer is complete');
    const [first = '', ...lines] = received.slice(at, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) [\w -]+$/.exec(first)?.[1]);
    at = end + 4;
    if (status === 100) continue;
    const fields = new Map(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(': ');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)];
      }),
    );
    const length = Number(fields.get('content-length'));
    const method = requests[answers.length]?.method ?? 'HEAD';
    const hasNoBody = method === 'HEAD' && received[at] !== '{';
    const body = hasNoBody ? '' : received.slice(at, at + length);
    ensure(hasNoBody || body.length === length, 'an answer has the length of its Content-Length');
    at += body.length;
    answers.push({ status, fields, body });
  }
  return answers;
};

const checkShape = ({ status, fields, body }: ReadAnswer): void => {
  ensure(fields.get('content-type') === 'application/json', 'an answer is JSON');
  ensure(fields.get('cache-control') === 'no-store', 'an answer has Cache-Control: no-store');
  ensure(
    fields.get('x-content-type-options') === 'nosniff',
    'an answer has X-Content-Type-Options: nosniff',
  );
  ensure(fields.has('date'), 'an answer has a Date');
  if (body === '') return;
  const content = JSON.parse(Buffer.from(body, 'latin1').toString()) as {
    error: number;
    name: string;
  };
  if (status === 200) ensure(typeof content.name === 'string', 'a plant has a name');
  else
    ensure(byNumber.get(content.error)?.status === status, 'an error has the status of its number');
};

/** Checks the properties of the answers to one client. */
export const checkAnswers = (
  answers: readonly ReadAnswer[],
  requests: readonly ReadRequest[],
  client: Client,
): void => {
  for (const [index, answer] of answers.entries()) {
    const request = requests[index];
    checkShape(answer);
    const allowed = request?.hasToken === true ? authenticatedStatuses : unauthenticatedStatuses;
    ensure(allowed.has(answer.status), `${answer.status} may be the answer to request ${index}`);
    const closes = answer.fields.get('connection') === 'close';
    ensure(!closes || index === answers.length - 1, 'nothing follows the last answer');
  }
  if (client.ending !== 'end') return;
  const isClosed = answers.at(-1)?.fields.get('connection') === 'close';
  const complete = requests.filter(({ isComplete }) => isComplete).length;
  ensure(isClosed || answers.length >= complete, 'every complete request has an answer');
  if (!client.isPure) return;
  for (const [index, { plant }] of requests.slice(0, answers.length).entries()) {
    const status = answers[index]?.status;
    ensure(plant === undefined || status === 200 || status === 503, `plant ${index} is created`);
  }
};

/** Checks that only plants of valid requests are stored. */
export const checkStored = (stored: readonly string[], sent: readonly ReadRequest[]): void => {
  const remaining = sent.flatMap(({ plant }) => plant ?? []);
  for (const plant of stored) {
    const found = remaining.indexOf(plant);
    ensure(found !== -1, `the stored plant ${plant} was sent in a valid request`);
    remaining.splice(found, 1);
  }
};
