import { type ErrorName, errorTable } from '@plantstore/core/errors';
import type { Client } from './grammar.ts';
import type { ReadRequest } from './reference.ts';

/** A parsed response. */
export type ReadResponse = {
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

/** Parses the responses to some requests strictly; throws for an extra or a missing byte. */
export const readResponses = (
  received: string,
  requests: readonly ReadRequest[],
): ReadResponse[] => {
  const responses: ReadResponse[] = [];
  let at = 0;
  while (at < received.length) {
    const end = received.indexOf('\r\n\r\n', at);
    ensure(end !== -1, 'a response is complete');
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
    const method = requests[responses.length]?.method ?? 'HEAD';
    const hasNoBody = method === 'HEAD' && received[at] !== '{';
    const body = hasNoBody ? '' : received.slice(at, at + length);
    ensure(hasNoBody || body.length === length, 'a response has the length of its Content-Length');
    at += body.length;
    responses.push({ status, fields, body });
  }
  return responses;
};

const checkShape = ({ status, fields, body }: ReadResponse): void => {
  ensure(fields.get('content-type') === 'application/json', 'a response is JSON');
  ensure(fields.get('cache-control') === 'no-store', 'a response has Cache-Control: no-store');
  ensure(
    fields.get('x-content-type-options') === 'nosniff',
    'a response has X-Content-Type-Options: nosniff',
  );
  ensure(fields.has('date'), 'a response has a Date');
  if (body === '') return;
  const content = JSON.parse(Buffer.from(body, 'latin1').toString()) as {
    error: number;
    name: string;
  };
  if (status === 200) ensure(typeof content.name === 'string', 'a plant has a name');
  else
    ensure(byNumber.get(content.error)?.status === status, 'an error has the status of its number');
};

/** Checks the properties of the responses to one client. */
export const checkResponses = (
  responses: readonly ReadResponse[],
  requests: readonly ReadRequest[],
  client: Client,
): void => {
  for (const [index, response] of responses.entries()) {
    const request = requests[index];
    checkShape(response);
    const allowed = request?.hasToken === true ? authenticatedStatuses : unauthenticatedStatuses;
    ensure(
      allowed.has(response.status),
      `${response.status} may be the response to request ${index}`,
    );
    const closes = response.fields.get('connection') === 'close';
    ensure(!closes || index === responses.length - 1, 'nothing follows the last response');
  }
  if (client.ending !== 'end') return;
  const isClosed = responses.at(-1)?.fields.get('connection') === 'close';
  const complete = requests.filter(({ isComplete }) => isComplete).length;
  ensure(isClosed || responses.length >= complete, 'every complete request has a response');
  if (!client.isPure) return;
  for (const [index, { plant }] of requests.slice(0, responses.length).entries()) {
    const status = responses[index]?.status;
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
