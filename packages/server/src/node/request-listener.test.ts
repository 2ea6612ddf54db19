import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMemoryRepository } from '@plantstore/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen, plant, post } from '../../test/listen.ts';
import { sendRaw } from '../../test/raw-http.ts';
import { createRequestListener } from './request-listener.ts';

describe('a fault of ours', () => {
  it('is a 500 without a detail, and the log has it with the request, without the token', async () => {
    const logged: unknown[] = [];
    const note = (fields: object, message: string) => void logged.push({ ...fields, message });
    const { port } = await listen({
      logger: { info: note, warn: note, error: note },
      authenticate: (token) => {
        throw new Error(`the token service fell over ${token}`);
      },
    });
    const { status, body } = await sendRaw(port, post(7));
    expect({ status, body }).toEqual({
      status: 500,
      body: '{"error":3500,"message":"something went wrong in the service"}',
    });
    expect(logged).toMatchObject([
      {
        message: 'request failed',
        status: 500,
        error: 3500,
        requestId: expect.stringMatching(/^[\w-]{36}$/) as unknown,
      },
    ]);
    expect(JSON.stringify(logged)).toContain('the token service fell over (token)');
    expect(JSON.stringify(logged)).not.toContain('good');
  });
});

describe('createRequestListener', () => {
  it('works in any Node server', async () => {
    const server = createServer(
      createRequestListener({
        repository: createMemoryRepository(),
        authenticate: (token) => token === 'good',
        basePath: '/garden',
      }),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const send = async (path: string) =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers: { Authorization: 'Bearer good', 'Content-Type': 'application/json' },
        body: plant(7),
      });
    expect(await (await send('/garden/plants')).json()).toEqual({ name: 'Monstera' });
    expect((await send('/plants')).status).toBe(404);
  });
});
