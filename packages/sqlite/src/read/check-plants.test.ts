import { readdirSync } from 'node:fs';
import { open as openFile, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { requiresPosix } from '@plantstore/test-support/requires';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeStore } from '../../test/store-file.ts';
import { Database } from '../open/connection.ts';
import { backUpPlants, restorePlants } from './back-up-plants.ts';
import { checkPlants } from './check-plants.ts';
import { readPlants } from './read-plants.ts';
import { openSqliteRepository } from '../repository.ts';

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await makeFolder();
  path = join(folder, 'plants.db');
});

const manyPlants = Array.from({ length: 2_000 }, (_, index) => {
  const id = BigInt(index - 1_000) * 3n;
  return { id, name: `plant ${id}` };
});

const pageSize = 4_096;
const overwritePage = async (page: number) => {
  const file = await openFile(path, 'r+');
  await file.write(Buffer.alloc(pageSize, 0xff), 0, pageSize, page * pageSize);
  await file.close();
};
const pages = async () => (await stat(path)).size / pageSize;

describe('checkPlants', () => {
  it('checkPlants finds no damage in an intact file, whether or not a repository has it open', async () => {
    makeStore(path, manyPlants.slice(1));
    const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
    for (const plant of manyPlants.slice(0, 1)) await repository.create(plant);
    const open = checkPlants(path)._unsafeUnwrap();
    expect(open).toMatchObject({ plants: manyPlants.length, damage: [] });
    expect(open.walSize).toBeGreaterThan(0);
    await repository.close();
    const closed = checkPlants(path)._unsafeUnwrap();
    expect(closed).toMatchObject({ plants: manyPlants.length, damage: [], walSize: 0 });
    expect(closed.size).toBe((await stat(path)).size);
  });

  it('checkPlants finds no damage in an empty database', async () => {
    makeStore(path);
    expect(checkPlants(path)._unsafeUnwrap()).toMatchObject({ plants: 0, damage: [] });
  });

  it('checkPlants finds any damaged page', async () => {
    makeStore(path, manyPlants);
    const intact = await openFile(path);
    const bytes = await intact.readFile();
    await intact.close();
    for (let page = 2; page < (await pages()); page += 7) {
      await overwritePage(page);
      expect(checkPlants(path)._unsafeUnwrap().damage.length).toBeGreaterThan(0);
      const file = await openFile(path, 'r+');
      await file.write(bytes);
      await file.close();
    }
  });

  // Windows does not have this folder.
  it('checkPlants leaves no damaged file open', requiresPosix, async () => {
    makeStore(path, manyPlants);
    await overwritePage(9);
    const before = readdirSync('/dev/fd').length;
    expect(checkPlants(path)._unsafeUnwrap().damage.length).toBeGreaterThan(0);
    expect(readdirSync('/dev/fd').length).toBeLessThanOrEqual(before);
  });

  it('checkPlants finds a page that has the content of another page', async () => {
    makeStore(path, manyPlants);
    const file = await openFile(path, 'r+');
    const content = Buffer.alloc(pageSize);
    await file.read(content, 0, pageSize, 4 * pageSize);
    await file.write(content, 0, pageSize, 12 * pageSize);
    await file.close();
    expect(checkPlants(path)._unsafeUnwrap().damage.length).toBeGreaterThan(0);
  });

  it('checkPlants fails for a file that cannot be read', async () => {
    expect(checkPlants(path)).toMatchObject({ error: { kind: 'missing', path } });
    makeStore(path, manyPlants);
    await truncate(path, 3 * pageSize);
    expect(checkPlants(path)).toMatchObject({ error: { kind: 'damaged' } });
  });

  it.for([
    ['a text that is not UTF-8', "CAST(x'ff' AS TEXT)", 'a text is not UTF-8'],
    ['a text with U+0000', "'a' || char(0) || 'b'", 'the name is no text'],
  ])(
    'a check, a backup, a restore and a reading refuse a row with %s, in the same words',
    async ([, text, fault], { skip }) => {
      skip(
        fault === 'the name is no text' && process.version.startsWith('v22.'),
        'node:sqlite of Node 22 reads a text up to U+0000',
      );
      makeStore(path, manyPlants);
      const other = new Database(path);
      other.exec(`INSERT INTO plants VALUES (1, ${text}, NULL)`);
      other.close();
      const error = {
        kind: 'not-a-plant',
        path,
        message: expect.stringContaining(`with the id 1: ${fault}`) as unknown,
      };
      const to = join(folder, 'copy.db');
      expect(checkPlants(path)._unsafeUnwrapErr()).toEqual(error);
      expect((await backUpPlants({ from: path, to }))._unsafeUnwrapErr()).toEqual(error);
      expect((await restorePlants({ from: path, to }))._unsafeUnwrapErr()).toEqual(error);
      const errors: unknown[] = [];
      for await (const read of readPlants({ path })) if (read.isErr()) errors.push(read.error);
      expect(errors).toEqual([error]);
      expect(readdirSync(folder)).not.toContain('copy.db');
    },
  );
});
