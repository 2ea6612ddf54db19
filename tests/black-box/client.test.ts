import { join } from 'node:path';
import { createClient, type CreatePlantError, type Refused } from '@plantstore/client';
import { describe, expect, it } from 'vitest';
import { newFolder, type RunningProgram, startProgram, token } from './program.ts';

const baseOf = ({ url }: RunningProgram) => url.replace(/\/plants$/, '');

const clientOf = (server: RunningProgram, options: { token?: string; path?: string } = {}) =>
  createClient({ baseUrl: baseOf(server) + (options.path ?? ''), token: options.token ?? token });

const outcomeOf = async (
  client: ReturnType<typeof createClient>,
  plant: unknown,
): Promise<'created' | Refused['name'] | Exclude<CreatePlantError['kind'], 'refused'>> =>
  client.createPlant(plant as { id: bigint; name: string }).match(
    () => 'created',
    (error) => (error.kind === 'refused' ? error.name : error.kind),
  );

describe('client with the real server', () => {
  it('the client with the real server reports each error of the table that a client can cause', async () => {
    const server = await startProgram({
      args: ['--database', 'memory:', '--max-body-bytes', '100000'],
    });
    const client = clientOf(server);
    const rows: [string, unknown][] = [
      ['created', { id: 7n, name: 'Monstera' }],
      ['created', { id: 7, name: 'Monstera' }],
      ['id-taken', { id: 7n, name: 'Ficus' }],
      ['name-required', { id: 8n }],
      ['name-not-text', { id: 8n, name: 8 }],
      ['name-not-text', { id: 8n, name: '\ud800' }],
      ['tag-not-text', { id: 8n, name: 'x', tag: null }],
      ['body-too-large', { id: 8n, name: 'x'.repeat(200_000) }],
      ['request-invalid', { id: 2n ** 63n, name: 'x' }],
      ['request-invalid', { id: 2 ** 53, name: 'x' }],
    ];
    for (const [outcome, plant] of rows) expect(await outcomeOf(client, plant)).toBe(outcome);
    const plant = { id: 9n, name: 'x' };
    expect(await outcomeOf(clientOf(server, { token: 'another' }), plant)).toBe('token-rejected');
    expect(await outcomeOf(clientOf(server, { path: '/garden' }), plant)).toBe('path-unknown');
    expect(await outcomeOf(clientOf(server, { token: 'two words' }), plant)).toBe('token-failed');
  });

  it('the client with the real server supports a base path, with and without a trailing slash', async () => {
    const server = await startProgram({
      args: ['--database', 'memory:', '--base-path', '/garden/v1/'],
    });
    for (const path of ['', '/']) {
      expect(await outcomeOf(clientOf(server, { path }), { id: 7n, name: 'x' })).toBe('created');
    }
  });

  it('the client with the real server keeps neighbouring ids distinct, the largest included, after kill -9 and a restart', async () => {
    const args = ['--database', `sqlite:${join(await newFolder(), 'plants.db')}`];
    const ids = [9223372036854775807n, 9007199254740993n, 9007199254740992n, -(2n ** 63n)];
    const server = await startProgram({ args });
    for (const id of ids) {
      expect(await outcomeOf(clientOf(server), { id, name: `plant ${id}` })).toBe('created');
    }
    server.process.kill('SIGKILL');
    await server.exited;
    expect(await outcomeOf(clientOf(server), { id: 1n, name: 'x' })).toBe('network');

    const again = clientOf(await startProgram({ args }));
    for (const id of ids) {
      expect(await outcomeOf(again, { id, name: `plant ${id}` })).toBe('created');
      expect(await outcomeOf(again, { id, name: 'another' })).toBe('id-taken');
    }
  });

  it('the client with the real server gets a response to every request that was accepted before SIGTERM', async () => {
    const server = await startProgram({ args: ['--database', 'memory:'] });
    const client = clientOf(server);
    let created = 0;
    const callers = Array.from({ length: 8 }, async (_, caller) => {
      for (let id = caller; ; id += 8) {
        const outcome = await outcomeOf(client, { id: BigInt(id), name: 'x' });
        if (outcome !== 'created') return outcome;
        created += 1;
        if (created === 200) server.process.kill('SIGTERM');
      }
    });
    expect(new Set(await Promise.all(callers))).toEqual(new Set(['network']));
    expect(await server.exited).toBe(0);
    expect(created).toBeGreaterThanOrEqual(200);
  });
});
