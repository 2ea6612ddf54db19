import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { files, withResults } from './report.ts';
import { type Results, stringifyResults } from './results.ts';

const root = join(import.meta.dirname, '..');
const read = async (file: string): Promise<string> => readFile(join(root, file), 'utf8');

const measured = JSON.parse(await read('bench/results.json')) as Results;

it.each(Object.entries(files))(
  '%s is what `pnpm bench --report` writes from results.json',
  async (file, write) => {
    const text = await read(file);
    expect(text, 'run pnpm bench --report').toBe(await write(text, measured));
    expect(text).not.toMatch(/NaN|Infinity|\[object|undefined/);
    if (file !== 'README.md')
      for (const { name } of measured.servers.rows) expect(text).toContain(name);
  },
);

it('results.json has the format that `pnpm bench` writes, with one row a line', async () => {
  const text = await read('bench/results.json');
  expect(text).toBe(stringifyResults(measured));
  const rows = [...measured.servers.rows, ...measured.growth.rows];
  expect(text.match(/^ {3}\{"name": .*\}\}\},?$/gm)).toHaveLength(rows.length);
});

it('the report rejects a page with an unknown generated part, and changes only generated parts', async () => {
  const block = (name: string) =>
    `# One\n\n<!-- bench: ${name} -->\n<!-- end of bench -->\n\nTwo\n`;
  await expect(withResults(block('nothing'), measured)).rejects.toThrow('"nothing"');
  expect(await withResults(block('growth'), measured)).toMatch(
    /^# One\n\n[^]*1,000,000[^]*\n\nTwo\n$/,
  );
});
