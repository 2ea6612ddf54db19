import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { DatabaseSync } from './node-sqlite.ts';

it('loading node:sqlite hides no later warning', async () => {
  new DatabaseSync(':memory:').close();
  const listeners = process.listeners('warning');
  process.removeAllListeners('warning');
  onTestFinished(() => {
    for (const listener of listeners) process.on('warning', listener);
  });
  const warned = once(process, 'warning');
  process.emitWarning('of the app');
  expect(await warned).toMatchObject([{ message: 'of the app' }]);
});
