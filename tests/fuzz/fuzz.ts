import { type ErrorName, errorTable } from '@plantstore/core/errors';
import { parseResponses, type RawResponse } from '@plantstore/test-support/raw-http';
import fc from 'fast-check';
import { type Client, client, requestOf } from './grammar.ts';
import { type ReadRequest, readRequests } from './reference.ts';
import { send, startTarget, type Target } from './target.ts';

/**
 * Fuzzes a server for some seconds, or until a property is violated. Returns the figures of the run,
 * and the shrunk counterexample with the command that repeats it by `path`.
 */
export const fuzz = async (seed: number, seconds: number, path?: string) => {
  const statuses: Record<number, number> = {};
  const target = await startTarget();
  try {
    const result = await fc.check(
      fc.asyncProperty(fc.array(client, { minLength: 1, maxLength: 4 }), async (clients) => {
        try {
          await runClients(target, clients, statuses);
        } finally {
          // The next run must not report plants and errors of this one.
          target.take();
        }
      }),
      {
        seed,
        ...(path !== undefined && { path }),
        numRuns: path === undefined ? 1_000_000_000 : 1,
        plugins: [fc.interruptAfterTimeLimit(seconds * 1000)],
      },
    );
    const figures = `fuzz: seed ${seed}, ${result.numRuns} runs, responses ${JSON.stringify(statuses)}`;
    if (!result.failed) return { figures, failure: undefined };
    const reason = result.errorInstance instanceof Error ? result.errorInstance.message : '';
    const again = `pnpm fuzz --seed ${seed} --path ${result.counterexamplePath}`;
    const [found = []] = (result.counterexample ?? []) as [Client[]?];
    const clients = found.map(show).join('');
    return { figures, failure: `violated property: ${reason}\n${clients}repeat: ${again}` };
  } finally {
    await target.stop();
  }
};

const show = ({ bytes, cuts, resets }: Client): string =>
  `  ${JSON.stringify(bytes.toString('latin1').replaceAll(/(.)\1{60,}/g, '$1…$1'))}\n  in ${cuts.length + 1} pieces, ${resets ? 'reset' : 'ended'}\n`;

const good: Client = {
  bytes: Buffer.from(requestOf('{"id":1,"name":"x"}')),
  cuts: [],
  isGood: true,
  resets: false,
};

/** Runs clients against the target concurrently, and afterwards one with a valid request. */
const runClients = async (
  target: Target,
  clients: readonly Client[],
  statuses: Record<number, number>,
) => {
  const all = [...clients, good];
  const sent = all.map(({ bytes }) => readRequests(bytes));
  const runClient = async (one: Client, requests: readonly ReadRequest[]) => {
    const received = await send(target.port, one);
    // A client that disconnects may have received any part of a response.
    if (one.resets) return;
    const responses = parseResponses(received).filter(({ status }) => status !== 100);
    for (const { status } of responses) statuses[status] = (statuses[status] ?? 0) + 1;
    checkResponses(responses, requests, one);
  };
  const results = await Promise.allSettled(
    clients.map(async (one, index) => runClient(one, sent[index] ?? [])),
  );
  await runClient(good, sent.at(-1) ?? []);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  const { stored, errors } = target.take();
  const plants = sent.flat().flatMap(({ plant }) => plant ?? []);
  for (const plant of stored) {
    const found = plants.indexOf(plant);
    ensure(found !== -1, `the stored plant ${plant} was sent in a valid request`);
    plants.splice(found, 1);
  }
  ensure(errors.length === 0, `the server reports no internal error: ${JSON.stringify(errors)}`);
};

const ensure = (isTrue: boolean, property: string): void => {
  if (!isTrue) throw new Error(property);
};

/** The statuses that a client without a valid token may get. */
const unauthenticatedStatuses = new Set([400, 401, 404, 405, 408, 413, 417, 431, 501, 503]);
const authenticatedStatuses = new Set([...unauthenticatedStatuses, 200, 415]);

const checkResponses = (
  responses: readonly RawResponse[],
  requests: readonly ReadRequest[],
  { isGood }: Client,
): void => {
  for (const [index, response] of responses.entries()) {
    const { hasToken = false, plant } = requests[index] ?? {};
    const { status, headers } = response;
    checkShape(response);
    const allowed = hasToken ? authenticatedStatuses : unauthenticatedStatuses;
    ensure(allowed.has(status), `${status} may be the response to request ${index}`);
    const closes = headers['connection'] === 'close';
    ensure(!closes || index === responses.length - 1, 'nothing follows the last response');
    const isCreated = status === 200 || status === 503;
    ensure(!isGood || plant === undefined || isCreated, `plant ${index} is created`);
  }
  const isClosed = responses.at(-1)?.headers['connection'] === 'close';
  const complete = requests.filter(({ isComplete }) => isComplete).length;
  ensure(isClosed || responses.length >= complete, 'every complete request has a response');
};

const statusOf = new Map(
  (Object.keys(errorTable) as ErrorName[]).map((name) => {
    const { error, status } = errorTable[name];
    return [error, status];
  }),
);

const checkShape = ({ status, headers, body }: RawResponse): void => {
  ensure(headers['content-type'] === 'application/json', 'a response is JSON');
  ensure(body.length === Number(headers['content-length']), 'a response is complete');
  const content = JSON.parse(Buffer.from(body, 'latin1').toString()) as Record<string, unknown>;
  const isShaped =
    status === 200
      ? typeof content['name'] === 'string'
      : statusOf.get(content['error'] as never) === status;
  ensure(isShaped, `the body is that of a ${status}`);
};
