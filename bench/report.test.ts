import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { plotsOf, stampOf } from './plots.ts';
import { pages, withResults } from './report.ts';
import type { Results } from './results.ts';

const root = join(import.meta.dirname, '..');
const read = async (file: string): Promise<string> => readFile(join(root, file), 'utf8');

const measured = JSON.parse(await read('bench/results.json')) as Results;

const withServers = (servers: Partial<Results['servers']>): Results => ({
  ...measured,
  servers: { ...measured.servers, ...servers },
});

it.each(pages)('%s is what `pnpm bench --report` writes from results.json', async (file) => {
  const page = await read(file);
  expect(page, 'run pnpm bench --report').toBe(await withResults(page, measured));
  expect(page).not.toMatch(/NaN|Infinity|\[object/);
});

it('docs/benchmarks.md contains every server', async () => {
  const page = await read('docs/benchmarks.md');
  for (const { name } of measured.servers.rows) expect(page).toContain(`| ${name} `);
});

it.each(Object.entries(plotsOf(measured)))('%s is drawn from results.json', async (file, plot) => {
  const svg = await read(`docs/benchmarks/${file}`);
  expect(svg.startsWith(stampOf(plot)), 'run pnpm bench --report').toBe(true);
});

it('docs/benchmarks.md names a server that was left out, with the first line of the reason', async () => {
  const rows = measured.servers.rows.slice(0, -1);
  const name = measured.servers.rows.at(-1)?.name ?? '';
  const results = withServers({ rows, leftOut: [`${name}: it ended: status 3\nat some line`] });
  const page = await withResults(await read('docs/benchmarks.md'), results);
  expect(page).toContain(`- ${name}: it ended: status 3\n`);
  expect(page).not.toContain(`| ${name} `);
  expect(page).not.toContain('at some line');
});

it('the report rejects a page with an unknown generated part, and changes only generated parts', async () => {
  const block = (name: string) =>
    `# One\n\n<!-- bench: ${name} -->\n<!-- end of bench -->\n\nTwo\n`;
  await expect(withResults(block('nothing'), measured)).rejects.toThrow('"nothing"');
  expect(await withResults(block('start'), measured)).toMatch(/^# One\n\n[^]*bare[^]*\n\nTwo\n$/);
});
