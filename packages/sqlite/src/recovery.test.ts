import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { countPlants, makeStore } from '../test/store-file.ts';
import { openSqliteRepository } from './repository.ts';

let path = '';
beforeEach(async () => {
  path = join(await makeFolder(), 'plants.db');
  makeStore(path);
});

const open = async () => {
  const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  onTestFinished(async () => void (await repository.close()));
  return repository;
};

/** Opens a repository, and returns an array that collects its worker threads. */
const openWithThreads = async () => {
  const threads: Worker[] = [];
  const collect = (message: unknown) => void threads.push((message as { worker: Worker }).worker);
  subscribe('worker_threads', collect);
  onTestFinished(() => void unsubscribe('worker_threads', collect));
  const repository = await open();
  return { repository, threads };
};

const plant = (id: number, name = 'x') => ({ id: BigInt(id), name });
const named = (file: string) => expect.stringContaining(file) as string;

describe('recovery of the SQLite repository', () => {
  it('the SQLite repository recovers from a crash of its worker thread, without losing acknowledged plants', async () => {
    const { repository, threads } = await openWithThreads();
    expect((await repository.create(plant(1))).isOk()).toBe(true);
    const creating = Array.from({ length: 100 }, async (_, index) =>
      repository.create(plant(2 + index)),
    );
    await threads[0]?.terminate();
    for (const result of await Promise.all(creating)) {
      if (result.isErr()) expect(result.error.kind).toBe('store-unavailable');
    }
    expect((await repository.create(plant(1))).isOk()).toBe(true);
    expect((await repository.create(plant(1, 'other')))._unsafeUnwrapErr().kind).toBe('id-taken');
    expect(threads).toHaveLength(2);
  });

  it('the SQLite repository recovers from an exception in its worker thread, and reports it', async () => {
    const { repository, threads } = await openWithThreads();
    expect((await repository.create(plant(1))).isOk()).toBe(true);
    // An invalid message makes the thread throw, as any bug in it would.
    threads[0]?.postMessage({ kind: 'commit', batch: null });
    expect((await repository.create(plant(2)))._unsafeUnwrapErr()).toMatchObject({
      kind: 'store-unavailable',
      reason: 'the commit worker crashed',
      cause: expect.any(TypeError) as unknown,
    });
    expect((await repository.create(plant(2))).isOk()).toBe(true);
    expect((await repository.create(plant(1, 'other')))._unsafeUnwrapErr().kind).toBe('id-taken');
    threads[1]?.postMessage({ kind: 'commit', batch: null });
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
    // The store opens the file again after a pause.
    await expect.poll(async () => (await repository.create(plant(1))).isOk()).toBe(true);
  });

  it('a SQLite repository whose worker thread exits before it has opened the file is not opened', async () => {
    process.once('worker', (worker) => void worker.terminate());
    expect((await openSqliteRepository({ path }))._unsafeUnwrapErr()).toMatchObject({
      kind: 'unexpected',
      message: `${path} cannot be used as a plant store: its worker thread exited`,
    });
  });

  it('the SQLite repository recovers when a moved file is put back', async () => {
    const repository = await open();
    await repository.create(plant(1));
    await rename(path, `${path}.moved`);
    const refused = await repository.create(plant(2));
    expect(refused._unsafeUnwrapErr()).toMatchObject({
      reason: named('was removed, renamed or replaced'),
    });
    await expect(stat(path)).rejects.toThrow('ENOENT');
    await rename(`${path}.moved`, path);
    // The store opens the file again after a pause.
    await expect.poll(async () => (await repository.create(plant(2))).isOk()).toBe(true);
    expect((await repository.create(plant(1, 'other')))._unsafeUnwrapErr().kind).toBe('id-taken');
  });

  it('the SQLite repository recovers when the WAL file is removed, without losing acknowledged plants', async () => {
    const repository = await open();
    await repository.create(plant(1));
    await rm(`${path}-wal`);
    const refused = await repository.create(plant(2));
    expect(refused._unsafeUnwrapErr()).toMatchObject({ reason: named(`${path}-wal`) });
    expect((await repository.create(plant(3))).isOk()).toBe(true);
    expect((await repository.create(plant(1, 'other')))._unsafeUnwrapErr().kind).toBe('id-taken');
  });

  it('the SQLite repository recovers from a rename, with every plant in the renamed file and none in the WAL file', async () => {
    const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
    await Promise.all(Array.from({ length: 500 }, async (_, id) => repository.create(plant(id))));
    await rename(path, `${path}.moved`);
    await repository.close();
    expect((await stat(`${path}-wal`)).size).toBe(0);
    expect(countPlants(`${path}.moved`)).toBe(500);
  });
});

describe('closing the SQLite repository', () => {
  it('closing the SQLite repository commits the queued plants first', async () => {
    const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
    const creating = Array.from({ length: 500 }, async (_, index) =>
      repository.create(plant(index)),
    );
    await repository.close();
    expect((await Promise.all(creating)).every((result) => result.isOk())).toBe(true);
    expect(countPlants(path)).toBe(500);
  });
});
