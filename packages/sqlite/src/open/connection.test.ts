import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it, onTestFinished } from 'vitest';
import { countConnection, Database, withoutConnections } from './connection.ts';

const newFile = async () => {
  const folder = await makeFolder();
  const path = join(folder, 'file');
  await writeFile(path, '');
  return path;
};

it('loading node:sqlite hides no later warning', async () => {
  new Database(':memory:', {}, false).close();
  const listeners = process.listeners('warning');
  process.removeAllListeners('warning');
  onTestFinished(() => {
    for (const listener of listeners) process.on('warning', listener);
  });
  const warned = once(process, 'warning');
  process.emitWarning('of the app');
  expect(await warned).toMatchObject([{ message: 'of the app' }]);
});

it('a task does not run while a connection to its file is open in this process', async () => {
  const path = await newFile();
  const close = countConnection(path);
  expect(withoutConnections(path, () => 'ran')).toBeUndefined();
  close();
  expect(withoutConnections(path, () => 'ran')).toBe('ran');
});

/** Starts a worker thread that runs a program with the functions under test, a path and a signal. */
const startThread = (program: string, path: string, signal: Int32Array) => {
  const all = `
    const { parentPort, workerData: { path, signal } } = require('node:worker_threads');
    void import('${new URL('connection.ts', import.meta.url).href}').then(
      ({ countConnection, withoutConnections }) => parentPort.postMessage(${program}),
    );`;
  const worker = new Worker(all, { eval: true, workerData: { path, signal } });
  return async () => (await once(worker, 'message'))[0] as unknown;
};

it('a task does not run in a thread while another one has a connection to its file', async () => {
  const path = await newFile();
  const close = countConnection(path);
  const run = "withoutConnections(path, () => 'ran')";
  const signal = new Int32Array(new SharedArrayBuffer(8));
  expect(await startThread(run, path, signal)()).toBeUndefined();
  close();
  expect(await startThread(run, path, signal)()).toBe('ran');
});

it('a connection waits for a task that reads its file in another thread', async () => {
  const path = await newFile();
  const signal = new Int32Array(new SharedArrayBuffer(8));
  const read = startThread(
    `withoutConnections(path, () => { Atomics.store(signal, 0, 1); return Atomics.wait(signal, 1, 0); })`,
    path,
    signal,
  );
  await expect.poll(() => Atomics.load(signal, 0)).toBe(1);
  const connect = startThread(
    '(Atomics.store(signal, 0, 2), countConnection(path), Atomics.load(signal, 1))',
    path,
    signal,
  );
  await expect.poll(() => Atomics.load(signal, 0)).toBe(2);
  // Usually long enough for the thread to wait. If it is not, the test passes without a wait.
  await sleep(20);
  const results = [read(), connect()];
  Atomics.store(signal, 1, 1);
  Atomics.notify(signal, 1);
  expect(await Promise.all(results)).toEqual(['ok', 1]);
});

it('a repository that a worker thread opens can be used, opened again and closed', async () => {
  const path = join(await newFile(), '..', 'plants.db');
  const program = `
    const { parentPort } = require('node:worker_threads');
    const { renameSync } = require('node:fs');
    const open = async () => {
      const { openSqliteRepository } = await import('${new URL('../index.ts', import.meta.url).href}');
      const repository = (await openSqliteRepository({ path: ${JSON.stringify(path)} }))._unsafeUnwrap();
      await repository.create({ id: 7n, name: 'Monstera' });
      renameSync(${JSON.stringify(path)}, ${JSON.stringify(`${path}.moved`)});
      const refused = await repository.create({ id: 8n, name: 'Ficus' });
      renameSync(${JSON.stringify(`${path}.moved`)}, ${JSON.stringify(path)});
      let created;
      do created = await repository.create({ id: 8n, name: 'Ficus' }); while (created.isErr());
      await repository.close();
      parentPort.postMessage(refused.isErr());
    };
    void open();`;
  const worker = new Worker(program, { eval: true, execArgv: ['--conditions=@plantstore/source'] });
  expect(await once(worker, 'message')).toEqual([true]);
  expect(await once(worker, 'exit')).toEqual([0]);
});
