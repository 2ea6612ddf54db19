import { setTimeout as sleep } from 'node:timers/promises';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeStore } from '../test/store-file.ts';
import { openSqliteRepository } from './repository.ts';

const openInFolder = async () => {
  const path = join(await makeFolder(), 'plants.db');
  makeStore(path);
  const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  onTestFinished(async () => void (await repository.close()));
  return { repository, path };
};

describe('check of a SQLite repository', () => {
  it('the check of a SQLite repository succeeds while plants can be stored, and stores none', async () => {
    const { repository } = await openInFolder();
    const results = await Promise.all([
      repository.check(),
      repository.create({ id: 7n, name: 'Monstera' }),
      repository.check(),
      repository.create({ id: 7n, name: 'Ficus' }),
      repository.check(),
    ]);
    expect(results.map((result) => result.isOk())).toEqual([true, true, true, false, true]);
    expect((await repository.create({ id: 0n, name: 'x' })).isOk()).toBe(true);
  });

  it('the check of a SQLite repository fails when the file was moved away, and succeeds when it is put back', async () => {
    const { repository, path } = await openInFolder();
    await rename(path, `${path}.moved`);
    expect((await repository.check())._unsafeUnwrapErr()).toMatchObject({
      kind: 'store-unavailable',
      reason: expect.stringContaining('was removed, renamed or replaced while') as unknown,
    });
    await rename(`${path}.moved`, path);
    // The repository tries to open the file once a second.
    while ((await repository.check()).isErr()) await sleep(2);
    expect((await repository.create({ id: 7n, name: 'Monstera' })).isOk()).toBe(true);
  });

  it('the check of a SQLite repository fails when the repository is closed, and does not open it again', async () => {
    const { repository, path } = await openInFolder();
    const checking = [repository.check(), repository.check()];
    const closed = repository.close();
    const after = repository.check();
    expect((await Promise.all(checking)).map((result) => result.isOk())).toEqual([true, true]);
    expect((await after)._unsafeUnwrapErr().reason).toBe('the database is closed');
    await closed;
    const again = (await openSqliteRepository({ path }))._unsafeUnwrap();
    await again.close();
  });
});
