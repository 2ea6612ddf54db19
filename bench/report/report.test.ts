import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Results } from '../results.ts';
import { reportOf } from './report.ts';

const root = join(import.meta.dirname, '../..');
const read = async (file: string): Promise<string> => readFile(join(root, file), 'utf8');

const readme = await read('README.md');
const measured = JSON.parse(await read('bench/results.json')) as Results;

const withServers = (servers: Partial<Results['servers']>): Results => ({
  ...measured,
  servers: { ...measured.servers, ...servers },
});

const pages = ['README.md', 'docs/benchmarks.md'];
const throughput = 'docs/benchmarks/throughput.svg';

/** The bars of the throughput's plot, by name. */
const barsIn = (svg: string): ReadonlyMap<string, number> =>
  new Map(
    [...svg.matchAll(/<rect [^>]*width="([\d.]+)"[^>]*data-name="([^"]*)"/g)].map(
      ([, pixels = '', name = '']) => [name, Number(pixels)],
    ),
  );

it('the pages and plots in the repository are what `pnpm bench --report` makes of its results', async () => {
  for (const [file, text] of Object.entries(await reportOf(measured, readme)))
    expect(text, `run pnpm bench --report: ${file}`).toBe(await read(file));
});

it('every server that was measured is in both pages and in the plot', async () => {
  const report = await reportOf(measured, readme);
  const bars = barsIn(report[throughput] ?? '');
  for (const { name } of [measured.servers.baseline, ...measured.servers.contenders]) {
    for (const page of pages) expect(report[page]).toContain(`| ${name} `);
    expect(bars.has(name), `a bar of ${name}`).toBe(true);
  }
});

it('bars are as long as the throughput is high, and only those of limits are cut', async () => {
  const bars = barsIn((await reportOf(measured, readme))[throughput] ?? '');
  const perUnit = bars.get(measured.servers.baseline.name) ?? Number.NaN;
  for (const { name, group, throughput: ratio } of measured.servers.contenders) {
    const pixels = bars.get(name) ?? Number.NaN;
    // They are rounded to a tenth of a pixel.
    if (group === 'limit') expect(pixels).toBeLessThanOrEqual(ratio.median * perUnit + 0.2);
    else expect(Math.abs(pixels - ratio.median * perUnit), `the bar of ${name}`).toBeLessThan(0.2);
  }
});

it('a server that was left out is named, with the reason, in both pages, and has no bar', async () => {
  const [gone] = measured.servers.contenders.slice(-1);
  const name = gone?.name ?? '';
  const results = withServers({
    contenders: measured.servers.contenders.slice(0, -1),
    leftOut: [{ name, why: `${name}: it ended: exit status 3\nat some line` }],
  });
  const report = await reportOf(results, readme);
  for (const page of pages) {
    expect(report[page]).toContain(`- ${name}: it ended: exit status 3\n`);
    expect(report[page]).not.toContain(`| ${name} `);
    expect(report[page]).not.toContain('at some line');
  }
  expect(barsIn(report[throughput] ?? '').has(name)).toBe(false);
});

const holes = /NaN|undefined|Infinity|\[object/;

it('nothing in the report is no number, or not there', async () => {
  const nothingOfOthers = withServers({
    contenders: measured.servers.contenders.filter(({ group }) => group === 'limit'),
  });
  for (const results of [measured, nothingOfOthers]) {
    const { 'README.md': page = '', ...others } = await reportOf(results, readme);
    const [, section = ''] = page.split('bench --report`');
    for (const text of [section, ...Object.values(others)]) expect(text).not.toMatch(holes);
  }
});

it('a name with signs of XML in it is text in a plot', async () => {
  const [first] = measured.servers.contenders;
  if (first === undefined) throw new Error('nothing was measured');
  const results = withServers({ contenders: [{ ...first, name: 'a "fast" <server> & co' }] });
  const svg = (await reportOf(results, readme))[throughput] ?? '';
  expect(svg).toContain('>a &quot;fast&quot; &lt;server&gt; &amp; co</text>');
});

it('a page without the marks of the section is refused, and what is around them stays', async () => {
  await expect(reportOf(measured, '# Plantstore\n')).rejects.toThrow('the README has no');
  const marks = readme.match(/<!-- Written by `pnpm bench --report`: (begin|end) -->/g) ?? [];
  const report = await reportOf(measured, `# One\n\n${marks.join('\n\n')}\n\nTwo\n`);
  expect(report['README.md']).toMatch(/^# One\n\n<!-- [^]* -->\n\nTwo\n$/);
});
