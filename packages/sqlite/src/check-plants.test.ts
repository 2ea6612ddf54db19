import { mkdtemp, open as openFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkPlants } from './check-plants.ts';
import { openSqliteRepository } from './open-sqlite-repository.ts';
import { readPlants } from './read-plants.ts';

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  path = join(folder, 'plants.db');
  return async () => rm(folder, { recursive: true });
});

const ids = Array.from({ length: 5_000 }, (_, index) => BigInt(index - 2_500) * 3n);

const openStore = async () => {
  const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  await Promise.all(ids.map(async (id) => repository.create({ id, name: `plant ${id}` })));
  return repository;
};

const pageSize = 4_096;
const overwritePage = async (page: number) => {
  const file = await openFile(path, 'r+');
  await file.write(Buffer.alloc(pageSize, 0xff), 0, pageSize, page * pageSize);
  await file.close();
};
const pages = async () => (await stat(path)).size / pageSize;

describe('checkPlants', () => {
  it('finds no damage in an intact file, whether or not a repository has it open', async () => {
    const repository = await openStore();
    const whole = { from: ids[0], to: ids.at(-1), plants: ids.length };
    const open = checkPlants(path)._unsafeUnwrap();
    expect(open).toMatchObject({ plants: ids.length, damage: [], readable: [whole] });
    expect(open.walSize).toBeGreaterThan(0);
    await repository.close();
    const closed = checkPlants(path)._unsafeUnwrap();
    expect(closed).toMatchObject({ plants: ids.length, damage: [], readable: [whole], walSize: 0 });
    expect(closed.size).toBe((await stat(path)).size);
  });

  it('finds no damage in an empty database', async () => {
    await (await openSqliteRepository({ path }))._unsafeUnwrap().close();
    expect(checkPlants(path)._unsafeUnwrap()).toMatchObject({
      plants: 0,
      damage: [],
      readable: [],
    });
  });

  it('finds any damaged page, and every plant of the other pages', async () => {
    await (await openStore()).close();
    const intact = await openFile(path);
    const bytes = await intact.readFile();
    await intact.close();
    const lost: number[] = [];
    for (let page = 2; page < (await pages()); page += 7) {
      await overwritePage(page);
      const { damage, readable, plants } = checkPlants(path)._unsafeUnwrap();
      expect(damage.length).toBeGreaterThan(0);
      lost.push(ids.length - plants);
      let read = 0;
      for (const { from, to, plants: expected } of readable) {
        let inRange = 0;
        for await (const one of readPlants({ path, after: from - 1n })) {
          const { id } = one._unsafeUnwrap();
          inRange += 1;
          if (id === to) break;
        }
        expect(inRange).toBe(expected);
        read += inRange;
      }
      expect(read).toBe(plants);
      const file = await openFile(path, 'r+');
      await file.write(bytes);
      await file.close();
    }
    // A page contains about 200 of these plants.
    expect(Math.max(...lost)).toBeLessThan(400);
    expect(Math.min(...lost)).toBeGreaterThan(0);
  });

  it('checkPlants finds the plants beside a page that has the content of another page', async () => {
    await (await openStore()).close();
    const file = await openFile(path, 'r+');
    const content = Buffer.alloc(pageSize);
    await file.read(content, 0, pageSize, 4 * pageSize);
    await file.write(content, 0, pageSize, 12 * pageSize);
    await file.close();
    const { damage, readable, plants } = checkPlants(path)._unsafeUnwrap();
    expect(damage.length).toBeGreaterThan(0);
    const ends = readable.flatMap(({ from, to }) => [from, to]);
    expect(ends.toSorted((one, other) => (one < other ? -1 : 1))).toEqual(ends);
    // A page contains about 200 of these plants.
    expect(plants).toBeGreaterThan(ids.length - 400);
    expect(plants).toBeLessThan(ids.length);
  });

  it.each([
    [[4, 12], 3],
    // The distance from the smallest id to the first plant is large.
    [[2, 4], 2],
    [[2, 3, 4, 6, 8, 9, 11, 13], 5],
  ])('finds the readable plants between the damaged pages %j', async (damaged, ranges) => {
    await (await openStore()).close();
    for (const page of damaged) await overwritePage(page);
    const { readable, plants } = checkPlants(path)._unsafeUnwrap();
    expect(readable).toHaveLength(ranges);
    // A page contains about 200 of these plants.
    expect(plants).toBeGreaterThan(ids.length - 300 * damaged.length);
  });

  it('fails for a file that cannot be read', async () => {
    expect(checkPlants(path)).toMatchObject({ error: { kind: 'missing', path } });
    await (await openStore()).close();
    await truncate(path, 3 * pageSize);
    expect(checkPlants(path)).toMatchObject({ error: { kind: 'damaged' } });
  });
});
