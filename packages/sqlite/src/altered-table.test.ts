import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { Database } from './node-sqlite.ts';
import { openSqliteRepository } from './open-sqlite-repository.ts';

let path = '';
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  path = join(folder, 'plants.db');
  await (await openSqliteRepository({ path }))._unsafeUnwrap().close();
  return async () => rm(folder, { recursive: true });
});

const alter = (sql: string) => {
  const database = new Database(path);
  database.exec(sql);
  database.close();
};

describe('a file whose plants table was altered', () => {
  it.each([
    ['trigger', 'CREATE TRIGGER silent BEFORE INSERT ON Plants BEGIN SELECT RAISE(IGNORE); END'],
    ['unique index', 'CREATE UNIQUE INDEX silent ON Plants (name)'],
    ['unique partial index', 'CREATE UNIQUE INDEX silent ON plants (name) WHERE tag IS NULL'],
  ])('a file is refused and left unchanged when its plants table has a %s', async (_, sql) => {
    alter(sql);
    const before = await readFile(path);
    const error = (await openSqliteRepository({ path }))._unsafeUnwrapErr();
    expect(error).toMatchObject({
      kind: 'table-altered',
      message: `${path} has the trigger or unique index "silent" on its table plants, which can change what is stored; drop it`,
    });
    expect(await readFile(path)).toEqual(before);
  });

  it('a file is opened when its plants table has indexes that are not unique', async () => {
    alter('CREATE INDEX by_tag ON plants (tag)');
    alter('CREATE INDEX climbers ON plants (upper(name)) WHERE tag IS NOT NULL');
    const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
    expect((await repository.create({ id: 7n, name: 'Monstera' })).isOk()).toBe(true);
    await repository.close();
  });

  it('a file is opened when it has a view, or another table with a trigger', async () => {
    alter('CREATE VIEW names AS SELECT name FROM plants; CREATE TABLE notes (text)');
    alter('CREATE TRIGGER noted BEFORE INSERT ON notes BEGIN SELECT RAISE(IGNORE); END');
    const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
    expect((await repository.create({ id: 7n, name: 'Monstera' })).isOk()).toBe(true);
    await repository.close();
  });
});
