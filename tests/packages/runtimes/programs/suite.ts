// Runs on every runtime without changes: without a test runner and built-in modules.
import type * as packed from '@plantstore/client';

/** The servers of the suite. */
export type Settings = {
  /** Base URL of an empty plant store. */
  readonly baseUrl: string;
  readonly token: string;
  /** URL of a server that never responds. */
  readonly silentUrl: string;
  /** URL of a server that starts a 200 response and never ends it. */
  readonly unendingUrl: string;
  /** URL of a server that sends a body without an end. */
  readonly endlessUrl: string;
  /** URL of a port on which no server listens. */
  readonly closedUrl: string;
  /** Whether the suite runs in a page, where a failed CORS preflight hides the response. */
  readonly isPage: boolean;
};

/** Result of a test; `failure` is the error, or an empty string. */
export type Finding = { readonly test: string; readonly failure: string; readonly ms: number };

/** Exports of the packed client under test. */
export type Tested = Pick<typeof packed, 'createClient'>;

type Client = packed.PlantClient;
type Plant = Parameters<Client['createPlant']>[0];
type SuiteTest = (tools: {
  readonly settings: Settings;
  /** Creates a client; the defaults of its options are valid. */
  readonly clientOf: (options?: Partial<packed.ClientOptions>) => Client;
}) => Promise<void>;

const nameOf = (error: packed.CreatePlantError): string =>
  error.kind === 'refused' ? error.name : error.kind;

const create = async (client: Client, plant: Plant, signal?: AbortSignal): Promise<string> =>
  client.createPlant(plant, { signal }).match(({ name }) => `created ${name}`, nameOf);

const expectEqual = (actual: unknown, expected: unknown): void => {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (left !== right) throw new Error(`${left.slice(0, 300)} instead of ${right.slice(0, 300)}`);
};

const monstera = { id: 1n, name: 'Monstera', tag: 'climber' };
const largest = 2n ** 63n - 1n;

const suiteTests: Readonly<Record<string, SuiteTest>> = {
  'creates a plant, and the same one again': async ({ clientOf }) => {
    for (const _ of ['first', 'again']) {
      const created = await clientOf().createPlant(monstera);
      expectEqual(created.isOk() && created.value, { name: 'Monstera', tag: 'climber' });
    }
  },
  'reports the request id of an error and of a success': async ({ clientOf }) => {
    const ids: (string | undefined)[] = [];
    const onSettled = ({ requestId }: packed.Report) => ids.push(requestId);
    for (const name of ['Monstera', 'Ficus']) {
      await clientOf().createPlant({ id: 6n, name }, { onSettled });
    }
    expectEqual(
      ids.map((id) => typeof id),
      ['string', 'string'],
    );
  },
  'reads each form of an HTTP date in Retry-After': async ({ clientOf }) => {
    const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
    const waits: number[] = [];
    for (const retryAfter of [
      'Sun, 06 Nov 1994 08:49:38 GMT',
      'Sunday, 06-Nov-94 08:49:38 GMT',
      'Sun Nov  6 08:49:38 1994',
    ]) {
      const headers = { date, 'retry-after': retryAfter };
      const client = clientOf({
        fetch: async () => new Response('', { status: 503, headers }),
        retries: 1,
        retryDelayMs: 0,
        timeoutMs: 1_500,
        onRetry: ({ waitMs }) => waits.push(waitMs),
      });
      expectEqual(await create(client, monstera), 'unexpected-status');
    }
    expectEqual(waits, [1_000, 1_000, 1_000]);
  },
  'returns id-taken for another plant with the same id': async ({ clientOf }) =>
    expectEqual(await create(clientOf(), { id: 1, name: 'Ficus' }), 'id-taken'),
  'sends every int64 exactly': async ({ clientOf }) => {
    const ids = [2n ** 53n, 2n ** 53n + 1n, largest - 1n, largest, -largest, -largest - 1n];
    for (const id of ids)
      expectEqual(await create(clientOf(), { id, name: `${id}` }), `created ${id}`);
    for (const id of ids) expectEqual(await create(clientOf(), { id, name: 'x' }), 'id-taken');
  },
  'preserves emoji and combining marks': async ({ clientOf }) => {
    const name = 'e\u0301 \u00e9 \u212b 👩‍🌾🪴 \u2028';
    expectEqual(await create(clientOf(), { id: 2n, name }), `created ${name}`);
  },
  'returns path-unknown, or a network error in a browser': async ({ clientOf, settings }) => {
    const outcome = await create(clientOf({ baseUrl: `${settings.baseUrl}/x` }), monstera);
    expectEqual(outcome, settings.isPage ? 'network' : 'path-unknown');
  },
  'sends and receives a megabyte': async ({ clientOf }) => {
    const name = '🪴'.repeat(260_000);
    expectEqual(await create(clientOf(), { id: 4n, name }), `created ${name}`);
  },
  'returns body-too-large for a large body': async ({ clientOf }) =>
    expectEqual(await create(clientOf(), { id: 5n, name: 'x'.repeat(2 ** 21) }), 'body-too-large'),
  'returns a network error for an unknown host': async ({ clientOf }) =>
    expectEqual(await create(clientOf({ baseUrl: 'http://plants.invalid' }), monstera), 'network'),
  'returns a network error for a port without a server': async ({ clientOf, settings }) =>
    expectEqual(await create(clientOf({ baseUrl: settings.closedUrl }), monstera), 'network'),
  'returns a timeout for an attempt that takes too long': async ({ clientOf, settings }) => {
    for (const baseUrl of [settings.silentUrl, settings.unendingUrl]) {
      expectEqual(await create(clientOf({ baseUrl, attemptTimeoutMs: 100 }), monstera), 'timeout');
    }
  },
  'is aborted at once while it waits for a response': async ({ clientOf, settings }) => {
    const controller = new AbortController();
    // Compares the order of timers, because a slow machine delays all of them.
    let isLate = false;
    const fetch = (url: string, init: RequestInit) => {
      setTimeout(() => {
        controller.abort();
        setTimeout(() => {
          isLate = true;
        }, 50);
      }, 50);
      return globalThis.fetch(url, init);
    };
    const client = clientOf({ baseUrl: settings.silentUrl, fetch });
    expectEqual(await create(client, monstera, controller.signal), 'aborted');
    expectEqual(isLate, false);
  },
  'is aborted while it reads a response': async ({ clientOf, settings }) => {
    const controller = new AbortController();
    const fetch = async (url: string, init: RequestInit) => {
      const response = await globalThis.fetch(url, init);
      setTimeout(() => controller.abort(), 50);
      return response;
    };
    const client = clientOf({ baseUrl: settings.unendingUrl, fetch });
    expectEqual(await create(client, monstera, controller.signal), 'aborted');
  },
};

/** Runs the tests one after another and returns their findings. */
export const runSuite = async (
  { createClient }: Tested,
  settings: Settings,
): Promise<Finding[]> => {
  const { baseUrl, token } = settings;
  const tools = {
    settings,
    // The default retries, with a short backoff.
    clientOf: (options = {}) => createClient({ baseUrl, token, retryDelayMs: 20, ...options }),
  };
  const findings: Finding[] = [];
  for (const [test, run] of Object.entries(suiteTests)) {
    const start = Date.now();
    const failure = await run(tools).then(() => '', String);
    findings.push({ test, failure, ms: Date.now() - start });
  }
  return findings;
};
