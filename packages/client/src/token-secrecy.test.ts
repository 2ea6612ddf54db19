import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { answering, clientWith, errorOf, plant, token } from '../test/fixtures.ts';
import { serve } from '../test/serve.ts';
import { createClient, type PlantClient } from './index.ts';

const shown = (value: unknown) =>
  inspect(value, { depth: null, showHidden: true, getters: true }) + JSON.stringify(value);

/** An error as an HTTP library might throw it, with the request's headers in every corner. */
const leaky = () => {
  const text = `POST failed, Authorization: Bearer ${token}`;
  const cause = Object.assign(new Error(text), { code: text, headers: { authorization: text } });
  return Object.assign(new Error(text, { cause }), { name: text, request: text });
};

const everythingShown = async (client: PlantClient, signal?: AbortSignal) => {
  const creating = client.createPlant(plant, { signal });
  const pending = shown(creating);
  const created = await creating;
  expect(created.isErr()).toBe(true);
  return [pending, shown(creating), shown(created), shown(client)].join('\n');
};

describe('the token', () => {
  it('shows neither in the client nor in the error of a fetch that throws it', async () => {
    const client = clientWith(() => Promise.reject(leaky()));
    expect(await everythingShown(client)).not.toContain(token);
  });

  it('does not show where an abort repeats it', async () => {
    const client = clientWith(() => Promise.reject(leaky()));
    expect(await everythingShown(client, AbortSignal.abort(leaky()))).not.toContain(token);
  });

  it.each([
    [200, token],
    [502, `<pre>Authorization: Bearer ${token}</pre>`],
    [401, JSON.stringify({ error: 2402, message: `${token} is not accepted` })],
  ])('does not show where an answer with status %i repeats it', async (status, body) => {
    const baseUrl = await serve(answering(status, body));
    expect(await everythingShown(createClient({ baseUrl, token, retries: 0 }))).not.toContain(
      token,
    );
  });
});

describe('a token as long as a header field may be', () => {
  // As a JWT with many groups or claims is.
  const long = randomBytes(6_000).toString('base64url') + '-._~+/'.repeat(1_000);

  it.each([
    ['a 401', async () => new Response(`{"error":2402,"message":"${long}"}`, { status: 401 })],
    ['no plant', async () => new Response(long)],
    ['a failure', () => Promise.reject(new Error(long))],
  ])('leaves %s an error without the token, and no rejection', async (_, answer) => {
    const error = await errorOf(clientWith(answer, { token: long }));
    expect(error).toMatchObject({ attempts: 1 });
    expect(shown(error)).toContain('***');
    expect(shown(error)).not.toContain(long.slice(0, 50));
  });
});
