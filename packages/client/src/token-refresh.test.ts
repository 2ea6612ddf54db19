import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTestClient, never, plant, settle, untyped } from '../test/fixtures.ts';
import { startServer } from '../test/start-server.ts';
import {
  type ClientOptions,
  createClient,
  type CreatePlantOptions,
  type TokenRequest,
} from './index.ts';
import { refreshPauseMs } from './token.ts';

const calls = 100;

/** Time limits that no call reaches, however busy the machine is. */
const longLimits = { attemptTimeoutMs: 100_000, timeoutMs: 100_000 };

/**
 * Starts a server that accepts one token at a time, as after the rotation of OAuth, and that holds the 401s of
 * the first token until all calls have sent it. It then sends `group` of them, and as many again each time
 * `group` calls have ended with another response.
 */
const startRotatingServer = async (group: number, first = 'token-0') => {
  const state = { accepted: 'token-1', refreshes: 0, rejected: 0 };
  const held: (() => void)[] = [];
  let arrived = 0;
  let ended = 0;
  const release = () => held.splice(0, group).forEach((send) => send());
  const end = () => {
    ended += 1;
    if (ended % group === 0) release();
  };
  const baseUrl = await startServer((request, response) => {
    request.resume();
    const sent = request.headers.authorization;
    const reject = () => {
      state.rejected += 1;
      response.writeHead(401).end('{"error":2402,"message":"no"}');
    };
    if (sent === `Bearer ${state.accepted}`) response.end('{"name":"a"}');
    else if (sent === `Bearer ${first}` && arrived < calls) {
      held.push(reject);
      arrived += 1;
      if (arrived === calls) release();
    } else reject();
  });
  return { baseUrl, state, end };
};

/** Creates plants at the same time, and returns the kinds of their outcomes. */
const outcomesOf = async (client: ReturnType<typeof createClient>, end: () => void) =>
  Promise.all(
    Array.from({ length: calls }, async () => {
      const created = await client.createPlant(plant);
      end();
      return created.match(
        () => 'ok',
        (error) => (error.kind === 'refused' ? `${error.name} ${error.attempts}` : error.kind),
      );
    }),
  );

const times = (count: number, outcome: string) => Array.from({ length: count }, () => outcome);

it('a refresh serves for one second', () => {
  expect(refreshPauseMs).toBe(1_000);
});

describe('the 401s of 100 calls with one expired token', () => {
  it.each([1, 7, 100])(
    '100 calls with one expired token cause one refresh if %i of their 401s arrive at a time',
    async (group) => {
      const { baseUrl, state, end } = await startRotatingServer(group);
      let current = 'token-0';
      const token = async ({ refresh }: TokenRequest) => {
        if (refresh) {
          state.refreshes += 1;
          // Each refresh revokes the token before it.
          current = `token-${state.refreshes}`;
          state.accepted = current;
        }
        return current;
      };
      const client = createClient({ baseUrl, token, retries: 0, ...longLimits });
      expect(await outcomesOf(client, end)).toEqual(times(calls, 'ok'));
      expect(state).toEqual({ accepted: 'token-1', refreshes: 1, rejected: calls });
    },
  );

  it('100 calls with one expired token wait for one slow refresh', async () => {
    const { baseUrl, state, end } = await startRotatingServer(calls);
    let current = 'token-0';
    const token = async ({ refresh }: TokenRequest) => {
      if (!refresh) return current;
      state.refreshes += 1;
      await expect.poll(() => state.rejected).toBe(calls);
      current = 'token-1';
      return current;
    };
    const client = createClient({ baseUrl, token, retries: 0, ...longLimits });
    expect(await outcomesOf(client, end)).toEqual(times(calls, 'ok'));
    expect(state).toMatchObject({ refreshes: 1, rejected: calls });
  });

  it.each([
    ['fails', undefined, 'token-failed'],
    ['returns the rejected token again', 'token-0', 'token-rejected 2'],
  ])(
    '100 calls with one expired token cause one refresh if it %s, and a call after its pause the next',
    async (_, refreshed, outcome) => {
      vi.useFakeTimers({ toFake: ['performance'] });
      onTestFinished(() => void vi.useRealTimers());
      const { baseUrl, state, end } = await startRotatingServer(10);
      let current = refreshed;
      const token = async ({ refresh }: TokenRequest) => {
        if (!refresh) return 'token-0';
        state.refreshes += 1;
        return current ?? '';
      };
      const client = createClient({ baseUrl, token, retries: 0, ...longLimits });
      expect(await outcomesOf(client, end)).toEqual(times(calls, outcome));
      vi.advanceTimersByTime(refreshPauseMs - 1);
      expect((await client.createPlant(plant)).isErr()).toBe(true);
      expect(state.refreshes).toBe(1);
      vi.advanceTimersByTime(1);
      current = 'token-1';
      expect(await client.createPlant(plant)).toMatchObject({ value: { name: 'a' } });
      expect(state.refreshes).toBe(2);
    },
  );
});

describe('rejected token', () => {
  /** Creates a client whose service accepts one token, and holds the 401 of each other one until it is released. */
  const createHoldingClient = (
    accepted: string,
    token: (request: TokenRequest) => Promise<string> | string,
    options: Partial<ClientOptions> = {},
  ) => {
    const held: { used: string | undefined; reject: () => void }[] = [];
    const sent: (string | undefined)[] = [];
    const requests: boolean[] = [];
    const client = createTestClient(
      async (_url, { headers }) => {
        const used = headers['authorization']?.replace('Bearer ', '');
        sent.push(used);
        if (used === accepted) return new Response('{"name":"a"}');
        await new Promise<void>((reject) => void held.push({ used, reject }));
        return new Response('', { status: 401 });
      },
      {
        token: (request) => {
          requests.push(request.refresh);
          return token(request);
        },
        ...options,
      },
    );
    const create = async (callOptions?: CreatePlantOptions) => {
      const outcome = client.createPlant(plant, callOptions).match(
        () => undefined,
        (error) => error,
      );
      await settle();
      return { outcome };
    };
    const release = async (rejected: string) => {
      const index = held.findIndex(({ used }) => used === rejected);
      held.splice(index, 1)[0]?.reject();
      await settle();
    };
    return { create, release, sent, requests };
  };

  it('a rejected token is replaced by a token that another call received without a refresh', async () => {
    const tokens = ['old', 'new'];
    const { create, release, sent, requests } = createHoldingClient('new', () => tokens.shift()!);
    const first = await create();
    const second = await create();
    expect(await second.outcome).toBeUndefined();
    await release('old');
    expect(await first.outcome).toBeUndefined();
    expect(sent).toEqual(['old', 'new', 'new']);
    expect(requests).toEqual([false, false]);
  });

  it('a rejected token that the function returns later does not replace the refreshed one', async () => {
    const late = Promise.withResolvers<string>();
    const { create, release, sent, requests } = createHoldingClient('new', ({ refresh }) => {
      if (refresh) return 'new';
      return requests.length === 1 ? 'old' : late.promise;
    });
    const first = await create();
    const second = await create();
    await release('old');
    expect(await first.outcome).toBeUndefined();
    late.resolve('old');
    await settle();
    await release('old');
    expect(await second.outcome).toBeUndefined();
    expect(sent).toEqual(['old', 'new', 'old', 'new']);
    expect(requests).toEqual([false, false, true]);
  });

  it('a rejected token is refreshed once if the function returned it for each of two calls', async () => {
    let current = 'old';
    const { create, release, sent, requests } = createHoldingClient('new', ({ refresh }) => {
      if (refresh) current = 'new';
      return current;
    });
    const first = await create();
    const second = await create();
    await release('old');
    await release('old');
    expect(await first.outcome).toBeUndefined();
    expect(await second.outcome).toBeUndefined();
    expect(sent).toEqual(['old', 'old', 'new', 'new']);
    expect(requests).toEqual([false, false, true]);
  });

  it('a rejected token is not replaced by a later token whose refresh is pending', async () => {
    const refreshed = Promise.withResolvers<string>();
    const tokens = ['first', 'second'];
    const { create, release, sent, requests } = createHoldingClient('third', ({ refresh }) =>
      refresh ? refreshed.promise : tokens.shift()!,
    );
    const first = await create();
    const second = await create();
    await release('second');
    await release('first');
    refreshed.resolve('third');
    expect(await first.outcome).toBeUndefined();
    expect(await second.outcome).toBeUndefined();
    expect(sent).toEqual(['first', 'second', 'third', 'third']);
    expect(requests).toEqual([false, false, true]);
  });

  it.each([
    ['an abort', 'aborted', 60_000],
    ['a timeout', 'timeout', 100],
  ] as const)(
    'a rejected token is not refreshed again after %s of the call that waits for its refresh',
    async (_, kind, timeoutMs) => {
      const refreshed = Promise.withResolvers<string>();
      const { create, release, sent, requests } = createHoldingClient('new', ({ refresh }) =>
        refresh ? refreshed.promise : 'old',
      );
      const controller = new AbortController();
      const first = await create({ signal: controller.signal, timeoutMs });
      const second = await create();
      await release('old');
      if (kind === 'aborted') controller.abort();
      expect(await first.outcome).toMatchObject({ kind, attempts: 1 });
      await release('old');
      const third = await create();
      refreshed.resolve('new');
      expect(await second.outcome).toBeUndefined();
      expect(await third.outcome).toBeUndefined();
      expect(sent).toEqual(['old', 'old', 'new', 'new']);
      expect(requests).toEqual([false, false, true]);
    },
  );

  it('a rejected token whose refresh failed is replaced by a token that another call received since', async () => {
    const tokens = ['old', 'old', 'new'];
    const { create, release, sent, requests } = createHoldingClient('new', ({ refresh }) =>
      refresh ? '' : tokens.shift()!,
    );
    const first = await create();
    const second = await create();
    await release('old');
    expect(await first.outcome).toMatchObject({ kind: 'token-failed', attempts: 1 });
    expect(await (await create()).outcome).toBeUndefined();
    await release('old');
    expect(await second.outcome).toBeUndefined();
    expect(sent).toEqual(['old', 'old', 'new', 'new']);
    expect(requests).toEqual([false, false, true, false]);
  });

  it('a rejected token is refreshed again if the refresh takes longer than timeoutMs', async () => {
    const slow = Promise.withResolvers<string>();
    const { create, release, sent, requests } = createHoldingClient(
      'new',
      ({ refresh }) => (refresh ? (requests.length === 4 ? slow.promise : 'new') : 'old'),
      { timeoutMs: 100 },
    );
    const first = await create({ timeoutMs: 60_000 });
    const second = await create({ timeoutMs: 60_000 });
    const third = await create({ timeoutMs: 60_000 });
    await release('old');
    await release('old');
    expect(await first.outcome).toBeUndefined();
    expect(await second.outcome).toBeUndefined();
    slow.resolve('revoked');
    await settle();
    await release('old');
    expect(await third.outcome).toBeUndefined();
    expect(sent).toEqual(['old', 'old', 'old', 'new', 'new', 'new']);
    expect(requests).toEqual([false, false, false, true, true]);
  });

  it('a rejected token whose refresh takes longer than timeoutMs is refreshed again within the second of the first', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { create, release, requests } = createHoldingClient(
      'new',
      ({ refresh }) => {
        if (!refresh) return 'old';
        return requests.length === 2 ? untyped(never()) : 'new';
      },
      { timeoutMs: 50 },
    );
    const first = await create({ timeoutMs: 5_000 });
    await release('old');
    expect(await first.outcome).toBeUndefined();
    expect(requests).toEqual([false, true, true]);
  });

  it('a rejected token is refreshed if the function returned it after the refresh of another token', async () => {
    const tokens = ['first', 'another'];
    const { create, release, sent, requests } = createHoldingClient('third', ({ refresh }) =>
      refresh ? (requests.length === 2 ? 'second' : 'third') : tokens.shift()!,
    );
    const first = await create();
    await release('first');
    await release('second');
    expect(await first.outcome).toMatchObject({ status: 401, attempts: 2 });
    const later = await create();
    await release('another');
    expect(await later.outcome).toBeUndefined();
    expect(sent).toEqual(['first', 'second', 'another', 'third']);
    expect(requests).toEqual([false, true, false, true]);
  });
});
