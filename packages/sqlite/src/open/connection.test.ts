import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it, onTestFinished } from 'vitest';
import { Database } from './connection.ts';

const newFile = async () => {
  const folder = await makeFolder();
  const path = join(folder, 'file');
  await writeFile(path, '');
  return path;
};

it('loading node:sqlite hides no later warning', async () => {
  new Database(':memory:').close();
  const listeners = process.listeners('warning');
  process.removeAllListeners('warning');
  onTestFinished(() => {
    for (const listener of listeners) process.on('warning', listener);
  });
  const warned = once(process, 'warning');
  process.emitWarning('of the app');
  expect(await warned).toMatchObject([{ message: 'of the app' }]);
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
