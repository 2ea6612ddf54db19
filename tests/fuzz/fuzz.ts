import fc from 'fast-check';
import { maxBodyBytes, token } from './arbitraries.ts';
import { type Client, client } from './grammar.ts';
import { checkResponses, checkStored, readResponses } from './properties.ts';
import { readRequests } from './reference.ts';
import { send } from './send.ts';
import { startTarget, type Target } from './target.ts';

/** The result of a run of the fuzzer. */
export type FuzzResult = {
  /** The number of requests and of responses, in one line. */
  readonly figures: string;
  /** The shrunk counterexample and the command that repeats it; `undefined` if every property holds. */
  readonly failure: string | undefined;
};

/** The seed and the duration of a run. `path` repeats a reported failure. */
export type FuzzOptions = {
  readonly seed: number;
  readonly seconds: number;
  readonly path?: string;
};

type Tally = { connections: number; requests: number; readonly statuses: Map<number, number> };

const clean: Client = {
  bytes: Buffer.from(
    [
      'POST /plants HTTP/1.1',
      'Host: a',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      'Content-Length: 19',
      'Connection: close',
      '',
      '{"id":1,"name":"x"}',
    ].join('\r\n'),
  ),
  cuts: [],
  isPure: true,
  ending: 'end',
};

/** Runs clients against the target concurrently, then a client with a valid request. */
const runClients = async (target: Target, clients: readonly Client[], tally: Tally) => {
  const all = [...clients, clean];
  const read = all.map(({ bytes }) => readRequests(bytes, maxBodyBytes, token));
  const runClient = async (one: Client, index: number) => {
    const { received, hung } = await send(target.port, one);
    if (hung) throw new Error(`a connection hung after ${JSON.stringify(received)}`);
    // A client that disconnects may have received any part of a response.
    if (one.ending === 'reset' || one.ending === 'destroy') return;
    const requests = read[index] ?? [];
    const responses = readResponses(received, requests);
    for (const { status } of responses) {
      tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
    }
    checkResponses(responses, requests, one);
    if (one === clean && responses[0]?.status !== 200)
      throw new Error('the next valid request fails');
  };
  tally.connections += all.length;
  tally.requests += read.flat().length;
  const results = await Promise.allSettled(clients.map(runClient));
  await runClient(clean, clients.length);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  checkStored(target.takeStored(), read.flat());
  const errors = target.takeErrors();
  if (errors.length > 0)
    throw new Error(`the server reported internal errors: ${JSON.stringify(errors)}`);
};

const show = ({ bytes, cuts, ending }: Client): string =>
  `  ${JSON.stringify(bytes.toString('latin1').replaceAll(/(.)\1{60,}/g, '$1…$1'))}\n  in ${cuts.length + 1} pieces, then ${ending}\n`;

/** Fuzzes a server for some seconds, or until a property is violated. */
export const fuzz = async ({ seed, seconds, path }: FuzzOptions): Promise<FuzzResult> => {
  const tally: Tally = { connections: 0, requests: 0, statuses: new Map() };
  const target = await startTarget();
  try {
    const result = await fc.check(
      fc.asyncProperty(fc.array(client, { minLength: 1, maxLength: 4 }), async (clients) => {
        try {
          await runClients(target, clients, tally);
        } finally {
          // The next run must not report plants and errors of this one.
          target.takeStored();
          target.takeErrors();
        }
      }),
      {
        seed,
        ...(path !== undefined && { path }),
        numRuns: path === undefined ? 1_000_000_000 : 1,
        plugins: [fc.interruptAfterTimeLimit(seconds * 1000)],
      },
    );
    const statuses = [...tally.statuses].toSorted(([one], [another]) => one - another);
    const figures = `fuzz: ${tally.connections} connections, ${tally.requests} requests, statuses ${JSON.stringify(Object.fromEntries(statuses))}, seed ${seed}`;
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
