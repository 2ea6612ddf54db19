import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { countConnection, withoutConnections } from './connections.ts';

const newFile = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const path = join(folder, 'file');
  await writeFile(path, '');
  return path;
};

it('a task does not run while a connection to its file is open in this process', async () => {
  const path = await newFile();
  const close = countConnection(path);
  expect(withoutConnections(path, () => 'ran')).toBeUndefined();
  close();
  expect(withoutConnections(path, () => 'ran')).toBe('ran');
});

it('a repository that a worker thread opens can be used, opened again and closed', async () => {
  const path = join(await newFile(), '..', 'plants.db');
  const program = `
    const { parentPort } = require('node:worker_threads');
    const { renameSync } = require('node:fs');
    const open = async () => {
      const { openSqliteRepository } = await import('${new URL('index.ts', import.meta.url).href}');
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
