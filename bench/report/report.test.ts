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
const cpuPlot = 'docs/benchmarks/cpu.svg';

/** The bars of the plot of CPU times, by name. */
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

it('both pages have every server, and the plot every one whose CPU time is known', async () => {
  const report = await reportOf(measured, readme);
  const bars = barsIn(report[cpuPlot] ?? '');
  for (const { name, cpu } of [
    { ...measured.servers.baseline, cpu: {} },
    ...measured.servers.contenders,
  ]) {
    for (const page of pages) expect(report[page]).toContain(`| ${name} `);
    expect(bars.has(name), `a bar of ${name}`).toBe(cpu !== null);
  }
});

it('bars are as long as the CPU time per request', async () => {
  const bars = barsIn((await reportOf(measured, readme))[cpuPlot] ?? '');
  const perUnit = bars.get(measured.servers.baseline.name) ?? Number.NaN;
  for (const { name, cpu } of measured.servers.contenders) {
    if (cpu === null) continue;
    // Both are rounded to a tenth of a pixel.
    const most = 0.05 * (cpu.median + 1) + 0.01;
    const pixels = bars.get(name) ?? Number.NaN;
    expect(Math.abs(pixels - cpu.median * perUnit), `the bar of ${name}`).toBeLessThan(most);
  }
});

it('pages and plots have a section for each store, ours above the peers', async () => {
  const [limit] = measured.servers.contenders;
  if (limit === undefined) throw new Error('the results have no servers');
  const contenders = (['postgres', 'sqlite', 'memory'] as const).flatMap((store) =>
    (['ours', 'peer'] as const).map((group) => ({
      ...limit,
      name: `${group} ${store}`,
      group,
      store,
    })),
  );
  const report = await reportOf(withServers({ contenders: [limit, ...contenders] }), readme);
  const inOrder = [
    'limits of this machine',
    limit.name,
    'HTTP alone, in memory',
    'ours memory',
    'peer memory',
    'on SQLite',
    'ours sqlite',
    'peer sqlite',
    'on PostgreSQL',
    'ours postgres',
    'peer postgres',
  ];
  for (const file of [...pages, cpuPlot]) {
    const text = (report[file] ?? '').replaceAll('**', '');
    const cells = text.matchAll(/^(?:\| |<text [^>]*>)(.+?)(?:\s+\||<\/text>)/gm);
    const names = [...cells].map(([, name = '']) => name);
    expect(names.filter((name) => inOrder.includes(name))).toEqual(inOrder);
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
  expect(barsIn(report[cpuPlot] ?? '').has(name)).toBe(false);
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
  const svg = (await reportOf(results, readme))[cpuPlot] ?? '';
  expect(svg).toContain('>a &quot;fast&quot; &lt;server&gt; &amp; co</text>');
});

it('a page without the marks of the section is refused, and what is around them stays', async () => {
  await expect(reportOf(measured, '# Plantstore\n')).rejects.toThrow('the README has no');
  const marks = readme.match(/<!-- Written by `pnpm bench --report`: (begin|end) -->/g) ?? [];
  const report = await reportOf(measured, `# One\n\n${marks.join('\n\n')}\n\nTwo\n`);
  expect(report['README.md']).toMatch(/^# One\n\n<!-- [^]* -->\n\nTwo\n$/);
});
