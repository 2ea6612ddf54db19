import { existsSync } from 'node:fs';
import { Agent } from 'node:http';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { connectRaw, parseResponses } from '@plantstore/test-support/raw-http';
import { runsAll } from '@plantstore/test-support/sample';
import { describe, expect, it } from 'vitest';
import { newFolder, post, startProgram, token, untilLogged } from './program.ts';
import { postOn } from './post-on.ts';
import { stoppingMessage } from '../../packages/plantstore/src/log/log-messages.ts';

const clients = 32;
/** Number of acknowledged plants at which the server is stopped. */
const enough = runsAll ? 1_000 : 250;

describe('SIGTERM', () => {
  it('SIGTERM lets the server respond to every accepted request and store every acknowledged plant', async () => {
    const path = join(await newFolder(), 'plants.db');
    const args = ['--database', `sqlite:${path}`];
    const server = await startProgram({ args });
    const acknowledged: number[] = [];
    let signalledAt = 0;
    const posting = Array.from({ length: clients }, async (_, client) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let id = client; ; id += clients) {
        const result = await postOn(agent, server.url, id);
        if ('failed' in result) return result.failed;
        if (result.status !== 200) return `status ${result.status}`;
        acknowledged.push(id);
        if (acknowledged.length === enough) {
          signalledAt = performance.now();
          server.process.kill('SIGTERM');
        }
      }
    });
    expect(new Set(await Promise.all(posting))).toEqual(new Set(['ECONNREFUSED']));
    expect(await server.exited).toBe(0);
    console.log(
      `SIGTERM: ${clients} clients, ${acknowledged.length} requests acknowledged, none lost; ` +
        `exit status 0 after ${Math.round(performance.now() - signalledAt)} ms`,
    );
    const database = new DatabaseSync(path);
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    const stored = new Set(
      database
        .prepare('SELECT id FROM plants')
        .all()
        .map(({ id }) => id),
    );
    database.close();
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s closes the store and leaves no WAL file',
    async (signal) => {
      const path = join(await newFolder(), 'plants.db');
      const server = await startProgram({ args: ['--database', `sqlite:${path}`] });
      await post(server.url, '{"id":7,"name":"x"}');
      expect(existsSync(`${path}-wal`)).toBe(true);
      server.process.kill(signal);
      expect(await server.exited).toBe(0);
      expect(existsSync(`${path}-wal`)).toBe(false);
    },
  );

  it('SIGTERM lets the server log that another file has taken the place of its database', async () => {
    const path = join(await newFolder(), 'plants.db');
    const server = await startProgram({ args: ['--database', `sqlite:${path}`] });
    await rename(path, `${path}.moved`);
    await writeFile(path, 'buy milk');
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(0);
    expect(server.stdout()).toContain(`the plants are in ${path}.moved`);
  });

  it('SIGTERM lets the server wait for a request whose body is still arriving', async () => {
    const server = await startProgram({ args: ['--database', 'memory:'] });
    const { socket, ended } = await connectRaw(server.port);
    const body = '{"id":7,"name":"x"}';
    const fields = [
      'Host: a',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    socket.write(`POST /plants HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`);
    await post(server.url, '{"id":8,"name":"so that the first request has arrived"}');
    server.process.kill('SIGTERM');
    await untilLogged(server, stoppingMessage);
    socket.write(body.slice(5));
    expect(parseResponses(await ended)).toMatchObject([
      { status: 200, headers: { connection: 'close' } },
    ]);
    expect(await server.exited).toBe(0);
    socket.destroy();
  });

  it('SIGTERM ends the server at once with status 1 when it is sent twice', async () => {
    const server = await startProgram({ args: ['--database', 'memory:'] });
    const { socket } = await connectRaw(server.port);
    socket.write('POST /plants HTTP/1.1\r\nHost: a\r\n');
    await post(server.url, '{"id":8,"name":"so that the first request has arrived"}');
    server.process.kill('SIGTERM');
    await untilLogged(server, stoppingMessage);
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(1);
    socket.destroy();
  });
});
