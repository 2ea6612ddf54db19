import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder, spawnProgram, startProgram } from './program.ts';

it('--check-settings exits with 0 also while the server has the database and the port open, and changes no file', async () => {
  const folder = await newFolder();
  const path = join(folder, 'plants.db');
  await writeFile(join(folder, 'tokens'), 'one name=shed\n');
  const files = ['--database', `sqlite:${path}`, '--tokens-file', join(folder, 'tokens')];
  const args = [...files, '--metrics', 'on', '--health-port', '0'];
  const check = async (port: number) => {
    const server = spawnProgram({ args: [...args, '--port', String(port), '--check-settings'] });
    expect([await server.exited, server.stderr()]).toEqual([0, '']);
    expect(server.stdout()).toMatch(/^--tokens-file .*tokens$/m);
  };
  await check(0);
  expect(await readdir(folder)).toEqual(['tokens']);
  const server = await startProgram({ args });
  const before = await readdir(folder);
  // The server keeps the port; a restart takes it over.
  await check(server.port);
  expect(await readdir(folder)).toEqual(before);
});
