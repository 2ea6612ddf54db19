import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { Results } from '../results.ts';
import { drawCpu } from './cpu.ts';
import { drawGrowth } from './growth.ts';
import { drawLatency } from './latency.ts';
import { benchmarksPage, readmeSection } from './page.ts';

const root = join(import.meta.dirname, '../..');

const begin = '<!-- Written by `pnpm bench --report`: begin -->';
const end = '<!-- Written by `pnpm bench --report`: end -->';

const withSection = (readme: string, section: string): string => {
  const [from, to] = [readme.indexOf(begin), readme.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`the README has no ${begin} … ${end}`);
  return `${readme.slice(0, from)}${begin}\n\n${section}\n\n${readme.slice(to)}`;
};

/** What the report is made of, by its place in the repository. The README is one that has the section's marks. */
export const reportOf = async (
  results: Results,
  readme: string,
): Promise<Readonly<Record<string, string>>> => {
  const config = await resolveConfig(join(root, 'README.md'));
  const formatted = async (markdown: string): Promise<string> =>
    format(markdown, { ...config, parser: 'markdown' });
  return {
    'README.md': await formatted(withSection(readme, readmeSection(results))),
    'docs/benchmarks.md': await formatted(benchmarksPage(results)),
    'docs/benchmarks/cpu.svg': drawCpu(results.servers),
    'docs/benchmarks/latency.svg': drawLatency(results.servers),
    'docs/benchmarks/growth.svg': drawGrowth(results.growth),
  };
};

/** Writes the report, and gives the files that it is in. */
export const writeReport = async (results: Results): Promise<readonly string[]> => {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const report = await reportOf(results, readme);
  for (const [file, text] of Object.entries(report)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
  }
  return Object.keys(report);
};
