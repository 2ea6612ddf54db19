import { spawnProgram } from './program.ts';
import { expect, it } from 'vitest';

it.each([
  ['22.18.0', 0, ''],
  ['23.0.0', 0, ''],
  ['100.1.0', 0, ''],
  ['9.99.0', 1, 'needs Node 22.18 or newer'],
  ['22.17.9', 1, 'needs Node 22.18 or newer'],
])('the program that finds Node %s exits with %i', async (version, status, message) => {
  const preload = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  const nodeArgs = ['--import', `data:text/javascript,${preload}`];
  const { exited, stderr } = spawnProgram({ nodeArgs, args: ['--version'] });
  expect(await exited).toBe(status);
  expect(stderr()).toContain(message);
});
