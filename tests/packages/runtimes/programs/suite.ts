// Runs on every runtime as it is, the oldest browsers that the client promises included: no test runner,
// nothing from node:, nothing but the web APIs of these.
import type * as packed from '@plantstore/client';

/** Where the suite finds what it asks for. */
export type Settings = {
  /** A plant store that nobody else uses. */
  readonly baseUrl: string;
  readonly token: string;
  /** A server that takes requests and never answers. */
  readonly silentUrl: string;
  /** A server that begins a 200 and never ends it. */
  readonly unendingUrl: string;
  /** A port at which nobody listens. */
  readonly closedUrl: string;
  /** Whether this is a page, whose browser asks the server first and hides what it is told. */
  readonly isPage: boolean;
};

/** What became of one check; `told` is what was wrong. */
export type Finding = { readonly check: string; readonly told: string; readonly ms: number };

/** What is tested of the packed client. */
export type Tested = Pick<typeof packed, 'createClient' | 'createPlants'>;

type Client = packed.PlantClient;
type Plant = Parameters<Client['createPlant']>[0];
type Check = (tools: {
  readonly settings: Settings;
  readonly createPlants: Tested['createPlants'];
  /** The client under test; what is left out is right. */
  readonly clientOf: (options?: Partial<packed.ClientOptions>) => Client;
}) => Promise<void>;

const said = (error: packed.CreatePlantError): string =>
  error.kind === 'refused' ? error.name : error.kind;

const create = async (client: Client, plant: Plant, signal?: AbortSignal): Promise<string> =>
  client.createPlant(plant, { signal }).match(({ name }) => `created ${name}`, said);

const same = (actual: unknown, expected: unknown): void => {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (left !== right) throw new Error(`${left.slice(0, 300)} instead of ${right.slice(0, 300)}`);
};

const monstera = { id: 1n, name: 'Monstera', tag: 'climber' };
const largest = 2n ** 63n - 1n;

const checks: Readonly<Record<string, Check>> = {
  'creates a plant, and the same one again': async ({ clientOf }) => {
    for (const _ of ['first', 'again']) {
      const created = await clientOf().createPlant(monstera);
      same(created.isOk() && created.value, { name: 'Monstera', tag: 'climber' });
    }
  },
  'reports the request id of an error, and of a success': async ({ clientOf }) => {
    const ids: (string | undefined)[] = [];
    const onSettled = ({ requestId }: packed.Report) => ids.push(requestId);
    for (const name of ['Monstera', 'Ficus']) {
      await clientOf().createPlant({ id: 6n, name }, { onSettled });
    }
    same(
      ids.map((id) => typeof id),
      ['string', 'string'],
    );
  },
  'sends no invalid headers': async ({ clientOf }) => {
    const fetch = () => Promise.reject(new Error('sent'));
    const headers = { 'not a name': 'x' };
    same(await create(clientOf({ fetch, headers }), monstera), 'request-invalid');
  },
  'finds its token in base64': async ({ clientOf, settings }) => {
    const fetch = () => Promise.reject(new Error(btoa(`Bearer ${settings.token}`)));
    const created = await clientOf({ fetch, retries: 0 }).createPlant(monstera);
    same(created.isErr() && created.error.message, 'no response: ***');
  },
  'is refused another plant under a taken id': async ({ clientOf }) =>
    same(await create(clientOf(), { id: 1, name: 'Ficus' }), 'id-taken'),
  'sends every int64 exactly': async ({ clientOf }) => {
    const ids = [2n ** 53n, 2n ** 53n + 1n, largest - 1n, largest, -largest, -largest - 1n];
    for (const id of ids) same(await create(clientOf(), { id, name: `${id}` }), `created ${id}`);
    for (const id of ids) same(await create(clientOf(), { id, name: 'x' }), 'id-taken');
  },
  'refuses an id that is no exact int64 before it sends anything': async ({ clientOf }) => {
    const fetch = () => Promise.reject(new Error('sent'));
    for (const id of [2 ** 53, 1.5, Number.NaN, 2n ** 63n]) {
      same(await create(clientOf({ fetch }), { id, name: 'x' }), 'request-invalid');
    }
  },
  'keeps emoji and combining marks as they are': async ({ clientOf }) => {
    const name = 'e\u0301 \u00e9 \u212b 👩‍🌾🪴 \u2028';
    same(await create(clientOf(), { id: 2n, name }), `created ${name}`);
  },
  'is told the faults of a plant': async ({ clientOf }) => {
    same(await create(clientOf(), { id: 3n, name: '\u0000' }), 'name-not-text');
    same(await create(clientOf(), { id: 3n, name: '\ud800' }), 'name-not-text');
  },
  'is told that its token is not accepted': async ({ clientOf }) =>
    same(await create(clientOf({ token: 'another' }), monstera), 'token-rejected'),
  'sends nothing where there is no token': async ({ clientOf }) =>
    same(await create(clientOf({ token: '' }), monstera), 'token-failed'),
  'is told that a path is unknown, where no browser hides it': async ({ clientOf, settings }) => {
    const told = await create(clientOf({ baseUrl: `${settings.baseUrl}/x` }), monstera);
    same(told, settings.isPage ? 'network' : 'path-unknown');
  },
  'sends a megabyte and gets it back': async ({ clientOf }) => {
    const name = '🪴'.repeat(260_000);
    same(await create(clientOf(), { id: 4n, name }), `created ${name}`);
  },
  'can read that a body is too large': async ({ clientOf }) =>
    same(await create(clientOf(), { id: 5n, name: 'x'.repeat(2 ** 21) }), 'body-too-large'),
  'creates 50 plants at a time': async ({ clientOf }) => {
    const client = clientOf();
    const ids = Array.from({ length: 50 }, (_, index) => BigInt(index + 100));
    const told = await Promise.all(ids.map(async (id) => create(client, { id, name: `${id}` })));
    same(
      told,
      ids.map((id) => `created ${id}`),
    );
  },
  'creates plants of an endless source until it has enough': async ({ clientOf, createPlants }) => {
    function* plants() {
      for (let id = 1_000; ; id += 1) yield { id, name: `${id}` };
    }
    const told: (number | false)[] = [];
    for await (const { index, newPlant, result } of createPlants(clientOf(), plants())) {
      told.push(result.isOk() && newPlant.id - index);
      if (told.length === 20) break;
    }
    same(
      told,
      told.map(() => 1_000),
    );
  },
  'tells of a host that is not known': async ({ clientOf }) =>
    same(await create(clientOf({ baseUrl: 'http://plants.invalid' }), monstera), 'network'),
  'tells of a port at which nobody listens': async ({ clientOf, settings }) =>
    same(await create(clientOf({ baseUrl: settings.closedUrl }), monstera), 'network'),
  'gives up an attempt that takes too long': async ({ clientOf, settings }) => {
    for (const baseUrl of [settings.silentUrl, settings.unendingUrl]) {
      same(await create(clientOf({ baseUrl, attemptTimeoutMs: 100 }), monstera), 'timeout');
    }
  },
  'sends nothing after an abort': async ({ clientOf }) => {
    const fetch = () => Promise.reject(new Error('sent'));
    const controller = new AbortController();
    controller.abort();
    same(await create(clientOf({ fetch }), monstera, controller.signal), 'aborted');
  },
  'is aborted while it waits for an answer, and at once': async ({ clientOf, settings }) => {
    const controller = new AbortController();
    // By the order of timers, as a busy machine is late with everything.
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
    same(await create(client, monstera, controller.signal), 'aborted');
    same(isLate, false);
  },
  'is aborted in the middle of an answer': async ({ clientOf, settings }) => {
    const controller = new AbortController();
    const fetch = async (url: string, init: RequestInit) => {
      const response = await globalThis.fetch(url, init);
      setTimeout(() => controller.abort(), 50);
      return response;
    };
    const client = clientOf({ baseUrl: settings.unendingUrl, fetch });
    same(await create(client, monstera, controller.signal), 'aborted');
  },
};

/** Runs every check in turn and gives what was found; `told` is `''` where all is well. */
export const runSuite = async (
  { createClient, createPlants }: Tested,
  settings: Settings,
): Promise<Finding[]> => {
  const { baseUrl, token } = settings;
  const tools = {
    settings,
    createPlants,
    // The client retries as by default, but without long pauses.
    clientOf: (options = {}) => createClient({ baseUrl, token, retryDelayMs: 20, ...options }),
  };
  const findings: Finding[] = [];
  for (const [check, run] of Object.entries(checks)) {
    const start = Date.now();
    const told = await run(tools).then(() => '', String);
    findings.push({ check, told, ms: Date.now() - start });
  }
  return findings;
};
