import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createTestClient,
  errorOf,
  hostile,
  never,
  plant,
  rejecting,
  token,
  unendingBody,
  untyped,
} from '../test/fixtures.ts';
import { startServer } from '../test/start-server.ts';
import { createClient } from './index.ts';
import { readSettings } from './settings.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('time limit of an attempt', () => {
  it('a response without headers in time results in a timeout', async () => {
    const baseUrl = await startServer(() => {});
    const client = createClient({ baseUrl, token, retries: 0, attemptTimeoutMs: 50 });
    expect(await errorOf(client)).toEqual({
      kind: 'timeout',
      message: 'no response within 50 ms',
      phase: 'response',
      attempts: 1,
    });
  });

  it('a body that stalls results in a timeout with its status, with one limit for headers and body', async () => {
    // Timers of this process end in their order on a busy machine, too.
    let isLate = false;
    let late: NodeJS.Timeout | undefined;
    const fetch = async () => {
      late = setTimeout(() => (isLate = true), 1_100);
      await sleep(200);
      return new Response(unendingBody().body);
    };
    const error = await errorOf(createTestClient(fetch, { attemptTimeoutMs: 1_000 }));
    clearTimeout(late);
    expect(error).toMatchObject({ kind: 'timeout', status: 200 });
    expect(isLate).toBe(false);
  });

  it('a response that arrives after the time limit of its attempt is ignored', async () => {
    const late = Promise.withResolvers<Response>();
    const { body, cancelled } = unendingBody();
    const headers = { 'Retry-After': '3600' };
    let sent = 0;
    const client = createTestClient(
      async () => {
        sent += 1;
        if (sent === 1) return late.promise;
        if (sent === 3) return new Response('{"name":"a"}');
        late.resolve(new Response(body, { status: 503, headers }));
        await cancelled;
        throw new TypeError('reset');
      },
      { retries: 3, retryDelayMs: 0, attemptTimeoutMs: 500 },
    );
    expect((await client.createPlant(plant))._unsafeUnwrap()).toEqual({ name: 'a' });
  });
});

describe('time limit of a call', () => {
  it.each([200, 401, 503])(
    'the time limit of a call ends it while the body of a %i is read, also if the timer ends before the clock says so',
    async (status) => {
      vi.spyOn(performance, 'now').mockReturnValue(0);
      const { body, cancelled } = unendingBody();
      const calls: unknown[] = [];
      const client = createTestClient(async () => new Response(body, { status }), {
        timeoutMs: 50,
        retries: 3,
        retryDelayMs: 0,
        token: ({ refresh }) => {
          if (refresh) calls.push('refresh');
          return token;
        },
        onRetry: (retry) => calls.push(retry),
      });
      expect(await errorOf(client)).toEqual({
        kind: 'timeout',
        message: 'incomplete response within 50 ms',
        phase: 'response',
        status,
        attempts: 1,
      });
      await cancelled;
      expect(calls).toEqual([]);
    },
  );

  it('a call sends nothing after its time limit, and sets no timer with a negative delay', async () => {
    const warnings: string[] = [];
    const warn = ({ name }: Error) => void warnings.push(name);
    process.on('warning', warn);
    const blockThread = () => {
      const end = performance.now() + 20;
      while (performance.now() < end);
      return token;
    };
    const options = { timeoutMs: 5, token: blockThread };
    const expected = { kind: 'timeout', phase: 'response', attempts: 0 };
    expect(await errorOf(createTestClient(rejecting('was called'), options))).toMatchObject(
      expected,
    );
    await new Promise(setImmediate);
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  it('the time limit of a call applies to all attempts together', async () => {
    const limits = { attemptTimeoutMs: 10, timeoutMs: 950, retryDelayMs: 0, retries: 1000 };
    const error = await errorOf(createTestClient(never, limits));
    expect(error?.kind).toBe('timeout');
    expect(error?.attempts).toBeGreaterThan(1);
    expect(error?.attempts).toBeLessThanOrEqual(95);
  });

  it('the limits of a call override those of the client, but not if they are invalid', async () => {
    const client = createTestClient(rejecting('no'), { retries: 5, retryDelayMs: 0 });
    const attempts = async (retries: unknown) =>
      (await client.createPlant(plant, { retries: untyped(retries) }))._unsafeUnwrapErr().attempts;
    expect([await attempts(1), await attempts('1'), await attempts(-1)]).toEqual([2, 6, 6]);
    const silent = createTestClient(never);
    const inAttempt = await silent.createPlant(plant, { attemptTimeoutMs: 20 });
    expect(inAttempt._unsafeUnwrapErr().message).toContain('20 ms');
    const inAll = await silent.createPlant(plant, { timeoutMs: 21, attemptTimeoutMs: 0 });
    expect(inAll._unsafeUnwrapErr().message).toContain('21 ms');
  });
});

describe('readSettings', () => {
  const limitsOf = (limits: object) =>
    readSettings({ baseUrl: 'https://plants.example', token: 'a', ...limits }).limits;
  const defaults = {
    attemptTimeoutMs: 10_000,
    timeoutMs: 30_000,
    retries: 3,
    retryDelayMs: 200,
    maxRetryDelayMs: 5_000,
  };

  it.each<[string, unknown]>([
    ['null', null],
    ['NaN', Number.NaN],
    ['below 0', -Number.MIN_VALUE],
    ['a string', '5'],
    ['a value whose members throw', hostile],
  ])('each limit is its default if the option is %s', (_, invalid) => {
    const options = Object.fromEntries(Object.keys(defaults).map((name) => [name, invalid]));
    expect(limitsOf(options)).toEqual(defaults);
  });

  it('readSettings accepts every positive number up to the longest timer, and 0 for no retries and no delay', () => {
    const timeoutOf = (timeoutMs: number) => limitsOf({ timeoutMs }).timeoutMs;
    const longest = 2 ** 31 - 1;
    expect([0.5, longest, 2 ** 31, Infinity].map(timeoutOf)).toEqual([
      0.5,
      longest,
      longest,
      longest,
    ]);
    const none = { retries: 0, retryDelayMs: 0, maxRetryDelayMs: 0 };
    expect(limitsOf(none)).toMatchObject(none);
    expect(limitsOf({ attemptTimeoutMs: 0, timeoutMs: 0 })).toEqual(defaults);
  });
});
