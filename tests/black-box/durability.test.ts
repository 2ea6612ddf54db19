import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { newFolder, post, startHost } from './host.ts';

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

describe('a plant that was answered', () => {
  it('is still there after kill -9 in the middle of a crowd, every one', async () => {
    const path = join(await newFolder(), 'plants.db');
    const args = ['--database', `sqlite:${path}`];
    const host = await startHost({ args });
    const answered: number[] = [];
    const clients = Array.from({ length: 16 }, async (_, client) => {
      for (let id = client; id < 1_000_000; id += 16) {
        const told = await post(host.url, plant(id)).catch(() => undefined);
        if (told?.status !== 200) return;
        answered.push(id);
        if (answered.length === 300) host.process.kill('SIGKILL');
      }
    });
    await Promise.all(clients);
    expect(await host.exited).toBe(null);
    expect(answered.length).toBeGreaterThanOrEqual(300);

    const again = await startHost({ args });
    const told = await Promise.all(
      answered.map(async (id) => post(again.url, plant(id, 'another'))),
    );
    expect(told.filter(({ error }) => error !== 1401)).toEqual([]);
    const repeated = await Promise.all(answered.map(async (id) => post(again.url, plant(id))));
    expect(repeated.filter(({ status }) => status !== 200)).toEqual([]);
  });

  it('is in the file exactly as it was sent', async () => {
    const path = join(await newFolder(), 'plants.db');
    const host = await startHost({ args: ['--database', `sqlite:${path}`] });
    const ids = [9223372036854775807n, 9007199254740993n, 9007199254740992n, -9223372036854775808n];
    for (const id of ids) expect(await post(host.url, plant(id))).toMatchObject({ status: 200 });
    expect(await post(host.url, '{"id":7e0,"name":"e\u0301 🪴","tag":""}')).toMatchObject({
      status: 200,
    });
    host.process.kill('SIGTERM');
    expect(await host.exited).toBe(0);
    expect(rowsOf(path)).toEqual([
      { id: -9223372036854775808n, name: 'plant -9223372036854775808', tag: null },
      { id: 7n, name: 'e\u0301 🪴', tag: '' },
      { id: 9007199254740992n, name: 'plant 9007199254740992', tag: null },
      { id: 9007199254740993n, name: 'plant 9007199254740993', tag: null },
      { id: 9223372036854775807n, name: 'plant 9223372036854775807', tag: null },
    ]);
  });

  it('was one of 1,000 that raced for an id', async () => {
    const path = join(await newFolder(), 'plants.db');
    const host = await startHost({ args: ['--database', `sqlite:${path}`] });
    const rivals = Array.from({ length: 1000 }, (_, index) => plant(7, `rival ${index}`));
    const told = await Promise.all(rivals.map(async (rival) => post(host.url, rival)));
    expect(told.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(told.filter(({ status, error }) => status === 400 && error === 1401)).toHaveLength(999);
    host.process.kill('SIGTERM');
    expect(await host.exited).toBe(0);
    const winner = told.findIndex(({ status }) => status === 200);
    expect(rowsOf(path)).toEqual([{ id: 7n, name: `rival ${winner}`, tag: null }]);
  });
});
