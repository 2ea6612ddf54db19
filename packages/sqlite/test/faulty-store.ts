import { subscribe } from 'node:diagnostics_channel';
import { existsSync, renameSync, rmSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { openSqliteRepository } from '@plantstore/sqlite';
import { Database } from '../src/open/connection.ts';
import { fillDisk } from './fill-disk.ts';
import { skipReopenPause } from './skip-reopen-pause.ts';

const threads: Worker[] = [];
subscribe('worker_threads', (message) => {
  threads.push((message as { worker: Worker }).worker);
});

/** A repository with faults that a test can cause. */
export type FaultyStore = Readonly<Awaited<ReturnType<typeof openFaultyStore>>>;

/** @param ballast - file that fills the disk; `undefined` when the disk must not be filled */
export const openFaultyStore = async (path: string, ballast: string | undefined) => {
  const [moved, wal] = [`${path}.moved`, `${path}-wal`];
  const open = async () => (await openSqliteRepository({ path }))._unsafeUnwrap();
  let repository = await open();
  let locker: Database | undefined;

  const repair = () => {
    if (existsSync(moved)) renameSync(moved, path);
    if (ballast !== undefined) rmSync(ballast, { force: true });
    locker?.close();
    locker = undefined;
    skipReopenPause();
  };

  // After a fault the store may not have the file open. A WAL file that is removed then is lost with its plants.
  let faultCount = 0;
  let faultsSurvived = 0;

  const create = async (...plant: Parameters<typeof repository.create>) => {
    const countAtStart = faultCount;
    const created = await repository.create(...plant);
    if (created.isOk() || created.error.kind === 'id-taken') faultsSurvived = countAtStart;
    return created;
  };

  // One fault at a time: a second one could prevent the recovery of a removed WAL file.
  const isIntact = () =>
    existsSync(path) && existsSync(wal) && !existsSync(ballast ?? '') && locker === undefined;

  const faults = {
    'kill the thread': async () => {
      faultCount += 1;
      await threads.at(-1)?.terminate();
    },
    'crash the thread': async () => {
      faultCount += 1;
      // No reply is possible: a reply to a message of the test would be taken for that of the next batch.
      threads.at(-1)?.postMessage(null);
    },
    'remove the WAL': async () => {
      if (isIntact() && faultsSurvived === faultCount) rmSync(wal);
    },
    'move the file': async () => {
      if (!isIntact()) return;
      faultCount += 1;
      renameSync(path, moved);
    },
    'lock the file': async () => {
      if (!isIntact()) return;
      faultCount += 1;
      await threads.at(-1)?.terminate();
      locker = new Database(path);
      // The next thread may have locked the file first.
      try {
        locker.exec('BEGIN IMMEDIATE');
      } catch {
        locker.close();
        locker = undefined;
      }
    },
    'fill the disk': async () => {
      if (ballast === undefined || !isIntact()) return;
      faultCount += 1;
      fillDisk(ballast);
    },
    repair: async () => repair(),
  } satisfies Record<string, () => Promise<unknown>>;

  return {
    create,
    faults,
    repair,
    reopen: async () => {
      repair();
      await repository.close();
      repository = await open();
      faultsSurvived = faultCount;
    },
    remove: async () => {
      repair();
      await repository.close();
      for (const name of [path, wal, `${path}-journal`]) rmSync(name, { force: true });
    },
  };
};
