import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { skipReopenPause } from '../test/skip-reopen-pause.ts';
import { countPlants, makeStore, plants } from '../test/store-file.ts';
import { openSqliteRepository } from './repository.ts';

let path = '';
beforeEach(async () => {
  path = join(await makeFolder(), 'plants.db');
  makeStore(path);
});

/** Opens a repository, and returns an array that collects its worker threads. */
const openWithThreads = async () => {
  const threads: Worker[] = [];
  const collect = (message: unknown) => void threads.push((message as { worker: Worker }).worker);
  subscribe('worker_threads', collect);
  onTestFinished(() => void unsubscribe('worker_threads', collect));
  const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  onTestFinished(async () => void (await repository.close()));
  return { repository, threads };
};

const plant = (id: number, name = 'x') => ({ id: BigInt(id), name });

it('the SQLite repository recovers from a crash of its worker thread, without losing acknowledged plants', async () => {
  const { repository, threads } = await openWithThreads();
  expect((await repository.create(plant(1))).isOk()).toBe(true);
  const creating = plants(2, 100).map(async (one) => repository.create(one));
  await threads[0]?.terminate();
  for (const result of await Promise.all(creating)) {
    if (result.isErr()) expect(result.error.kind).toBe('store-unavailable');
  }
  expect((await repository.create(plant(1))).isOk()).toBe(true);
  expect((await repository.create(plant(1, 'other')))._unsafeUnwrapErr().kind).toBe('id-taken');
  expect(threads).toHaveLength(2);
  // An invalid message makes the thread throw, as any bug in it would.
  threads[1]?.postMessage({ kind: 'commit', batch: null });
  expect((await repository.create(plant(2)))._unsafeUnwrapErr()).toMatchObject({
    reason: 'the commit worker crashed',
    cause: expect.any(TypeError) as unknown,
  });
  expect((await repository.create(plant(1, 'other')))._unsafeUnwrapErr().kind).toBe('id-taken');
  threads[2]?.postMessage({ kind: 'commit', batch: null });
  await repository.close();
});

it('the SQLite repository recovers when a worker thread exits before it has opened the file', async () => {
  const { repository, threads } = await openWithThreads();
  await threads[0]?.terminate();
  const creating = repository.create(plant(1));
  await expect.poll(() => threads.length).toBe(2);
  await threads[1]?.terminate();
  const created = await creating;
  if (created.isErr()) expect(created.error.kind).toBe('store-unavailable');
  skipReopenPause();
  expect((await repository.create(plant(1))).isOk()).toBe(true);
});

it('a SQLite repository whose worker thread exits before it has opened the file is not opened', async () => {
  process.once('worker', (worker) => void worker.terminate());
  expect((await openSqliteRepository({ path }))._unsafeUnwrapErr()).toMatchObject({
    kind: 'unexpected',
    message: `${path} cannot be used as a plant store: its worker thread exited`,
  });
});

it('the SQLite repository recovers when a moved file is put back', async () => {
  const { repository } = await openWithThreads();
  await repository.create(plant(1));
  await rename(path, `${path}.moved`);
  for (const _again of [1, 2]) {
    expect((await repository.create(plant(2)))._unsafeUnwrapErr()).toMatchObject({
      reason: expect.stringContaining('was removed, renamed or replaced') as unknown,
    });
    skipReopenPause();
  }
  await expect(stat(path)).rejects.toThrow('ENOENT');
  await rename(`${path}.moved`, path);
  expect((await repository.create(plant(2))).isOk()).toBe(true);
  expect((await repository.create(plant(1, 'other')))._unsafeUnwrapErr().kind).toBe('id-taken');
});

it('the SQLite repository commits the queued plants when it is closed, also to a renamed file, and leaves none in the WAL file', async () => {
  const { repository } = await openWithThreads();
  await Promise.all(plants(0, 500).map(async (one) => repository.create(one)));
  const creating = plants(500, 1_000).map(async (one) => repository.create(one));
  await repository.close();
  for (const created of await Promise.all(creating)) created._unsafeUnwrap();
  expect(countPlants(path)).toBe(1_000);
  const again = (await openSqliteRepository({ path }))._unsafeUnwrap();
  await again.create(plant(1_000));
  await rename(path, `${path}.moved`);
  await again.close();
  expect((await stat(`${path}-wal`)).size).toBe(0);
  expect(countPlants(`${path}.moved`)).toBe(1_001);
});
