import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { newFolder, post, startProgram } from './program.ts';

const plant = (id: bigint | number, name = `plant ${id}`) =>
  JSON.stringify({ name }).replace('{', `{"id":${id},`);

const rowsOf = (path: string) => {
  const database = new DatabaseSync(path, { readOnly: true });
  const statement = database.prepare('SELECT id, name, tag FROM plants ORDER BY id');
  statement.setReadBigInts(true);
  const rows = statement.all().map((row) => ({ ...row }));
  database.close();
  return rows;
};

describe('plant that was acknowledged with 200', () => {
  it('a plant that was acknowledged with 200 is stored after kill -9 under load', async () => {
    const path = join(await newFolder(), 'plants.db');
    const args = ['--database', `sqlite:${path}`];
    const server = await startProgram({ args });
    const acknowledged: number[] = [];
    const clients = Array.from({ length: 16 }, async (_, client) => {
      for (let id = client; id < 1_000_000; id += 16) {
        const response = await post(server.url, plant(id)).catch(() => undefined);
        if (response?.status !== 200) return;
        acknowledged.push(id);
        if (acknowledged.length === 100) server.process.kill('SIGKILL');
      }
    });
    await Promise.all(clients);
    expect(await server.exited).toBe(null);
    expect(acknowledged.length).toBeGreaterThanOrEqual(100);

    const again = await startProgram({ args });
    const responses = await Promise.all(
      acknowledged.map(async (id) => post(again.url, plant(id, 'another'))),
    );
    expect(responses.filter(({ error }) => error !== 1401)).toEqual([]);
    const repeated = await Promise.all(acknowledged.map(async (id) => post(again.url, plant(id))));
    expect(repeated.filter(({ status }) => status !== 200)).toEqual([]);
  });

  it('a plant that was acknowledged with 200 is stored exactly as it was sent', async () => {
    const path = join(await newFolder(), 'plants.db');
    const server = await startProgram({ args: ['--database', `sqlite:${path}`] });
    const ids = [9223372036854775807n, 9007199254740993n, 9007199254740992n, -9223372036854775808n];
    for (const id of ids) expect(await post(server.url, plant(id))).toMatchObject({ status: 200 });
    expect(await post(server.url, '{"id":7e0,"name":"e\u0301 🪴","tag":""}')).toMatchObject({
      status: 200,
    });
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(0);
    expect(rowsOf(path)).toEqual([
      { id: -9223372036854775808n, name: 'plant -9223372036854775808', tag: null },
      { id: 7n, name: 'e\u0301 🪴', tag: '' },
      { id: 9007199254740992n, name: 'plant 9007199254740992', tag: null },
      { id: 9007199254740993n, name: 'plant 9007199254740993', tag: null },
      { id: 9223372036854775807n, name: 'plant 9223372036854775807', tag: null },
    ]);
  });

  it('exactly one of 200 concurrent plants with the same id is acknowledged', async () => {
    const path = join(await newFolder(), 'plants.db');
    const server = await startProgram({ args: ['--database', `sqlite:${path}`] });
    const competing = Array.from({ length: 200 }, (_, index) => plant(7, `plant ${index}`));
    const responses = await Promise.all(competing.map(async (body) => post(server.url, body)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status, error }) => status === 400 && error === 1401)).toHaveLength(
      199,
    );
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(0);
    const winner = responses.findIndex(({ status }) => status === 200);
    expect(rowsOf(path)).toEqual([{ id: 7n, name: `plant ${winner}`, tag: null }]);
  });
});
