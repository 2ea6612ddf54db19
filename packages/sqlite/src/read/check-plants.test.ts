import { copyFileSync, readdirSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { beforeEach, expect, it } from 'vitest';
import { makeStore } from '../../test/store-file.ts';
import { Database } from '../open/connection.ts';
import { openSqliteRepository } from '../repository.ts';
import { backUpPlants, restorePlants } from './back-up-plants.ts';
import { checkPlants } from './check-plants.ts';
import { readPlants } from './read-plants.ts';

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

it('checkPlants finds no damage in an intact file, whether or not a repository has it open', async () => {
  makeStore(path);
  expect(checkPlants(path)._unsafeUnwrap()).toMatchObject({ plants: 0, damage: [] });
  makeStore(path, manyPlants.slice(1));
  const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  for (const plant of manyPlants.slice(0, 1)) await repository.create(plant);
  const open = checkPlants(path)._unsafeUnwrap();
  expect(open).toMatchObject({ plants: manyPlants.length, damage: [] });
  expect(open.walSize).toBeGreaterThan(0);
  await repository.close();
  const closed = checkPlants(path)._unsafeUnwrap();
  expect(closed).toEqual({
    plants: manyPlants.length,
    damage: [],
    walSize: 0,
    size: statSync(path).size,
  });
});

it('checkPlants finds any damaged page, and any that has the content of another one, and leaves no file open', async () => {
  makeStore(path, manyPlants);
  const sound = await readFile(path);
  const openFiles = () => (process.platform === 'win32' ? 0 : readdirSync('/dev/fd').length);
  const before = openFiles();
  for (let page = 2; page < sound.length / pageSize; page += 7) {
    for (const from of [undefined, (page + 1) * pageSize]) {
      const bytes = Buffer.from(sound);
      if (from === undefined) bytes.fill(0xff, page * pageSize, (page + 1) * pageSize);
      else sound.copy(bytes, page * pageSize, from, from + pageSize);
      await writeFile(path, bytes);
      expect(checkPlants(path)._unsafeUnwrap().damage.length).toBeGreaterThan(0);
    }
  }
  expect(openFiles()).toBeLessThanOrEqual(before);
});

it.each([
  ['a text that is not UTF-8', "CAST(x'ff' AS TEXT)", 'a text is not UTF-8'],
  ['a text with U+0000', "'a' || char(0) || 'b'", 'the name is no text'],
])(
  'a check, a backup, a restore and a reading refuse a row with %s, in the same words',
  async (_, text, fault) => {
    makeStore(path, manyPlants);
    const other = new Database(path);
    other.exec(`INSERT INTO plants VALUES (1, ${text}, NULL)`);
    other.close();
    const message = expect.stringContaining(`with the id 1: ${fault}`) as unknown;
    const error = { kind: 'not-a-plant', path, message };
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

it('the error of a killed transaction states how to roll it back, which a read cannot do', () => {
  const original = join(folder, 'original.db');
  makeStore(original, [{ id: 7n, name: 'Monstera' }]);
  const other = new Database(original);
  other.exec('PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN');
  other.exec('CREATE TABLE large AS SELECT randomblob(90000) AS bytes');
  // The state of the files that a kill would leave.
  for (const suffix of ['', '-journal']) copyFileSync(original + suffix, path + suffix);
  other.close();
  expect(checkPlants(path)._unsafeUnwrapErr()).toMatchObject({
    kind: 'journal-left',
    message: expect.stringContaining('start the server once') as unknown,
  });
  makeStore(path);
  expect(checkPlants(path)._unsafeUnwrap()).toMatchObject({ plants: 1, damage: [] });
});
