import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { median } from './median.ts';

const urlOf = (path: string) => new URL(`../../packages/${path}`, import.meta.url).href;
const zod = urlOf('core/node_modules/zod/v4/mini/index.js');

/** Returns the CPU time of importing a built module in a new process, in milliseconds. */
const importCpuMs = async (url: string): Promise<number> => {
  const script = `
    const start = process.cpuUsage();
    await import(${JSON.stringify(url)});
    const { user, system } = process.cpuUsage(start);
    console.log((user + system) / 1000);`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    script,
  ]);
  return Number(stdout);
};

// `pnpm test:timing` builds the packages.
it.each([
  ['@plantstore/core', 'core/dist/index.js', 0.3],
  ['@plantstore/server/fetch', 'server/dist/fetch.js', 0.4],
])(
  'importing %s takes a fraction of the CPU time of importing zod/mini',
  async (name, path, limit) => {
    const ratios: number[] = [];
    for (let round = 0; round < 9; round += 1) {
      ratios.push((await importCpuMs(urlOf(path))) / (await importCpuMs(zod)));
    }
    console.log(
      `CPU time of importing ${name} over that of zod/mini: ${median(ratios).toFixed(2)}`,
    );
    expect(median(ratios)).toBeLessThan(limit);
  },
);
