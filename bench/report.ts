// Generates the parts of pages between `<!-- bench: name -->` and `<!-- end of bench -->`.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { draw, plotsOf } from './plots.ts';
import type { Parts, Results } from './results.ts';
import { asMarkdown, storageTable, summaryTable, tablesOf } from './tables.ts';

const root = join(import.meta.dirname, '..');

/** The pages that have generated parts. */
export const pages = ['README.md', 'docs/benchmarks.md'];

const leftOut = ({ leftOut: failures }: Parts['servers']): string =>
  failures.length === 0
    ? ''
    : // The output of a failed process can be long.
      `\n\nLeft out, because it failed:\n\n${failures
        .map((text) => `- ${(text.split('\n')[0] ?? '').slice(0, 200)}`)
        .join('\n')}`;

const partOf = (part: keyof Parts) => (results: Results) =>
  [`Rounds: ${results[part].rounds}.`, ...tablesOf(part, results).map(asMarkdown)].join('\n\n');

const blocks: Readonly<Record<string, (results: Results) => string>> = {
  run: ({ date, seconds, machine }) =>
    `Measured on ${date.slice(0, 10)} in ${Math.ceil(seconds / 60)} minutes: ${machine}.`,
  summary: (results) => asMarkdown(summaryTable(results)),
  servers: (results) => partOf('servers')(results) + leftOut(results.servers),
  start: partOf('start'),
  idle: partOf('idle'),
  client: partOf('client'),
  growth: partOf('growth'),
  commands: partOf('commands'),
  scaling: (results) => asMarkdown(tablesOf('scaling', results)[0] ?? []),
  storage: (results) => asMarkdown(storageTable(results)),
};

/** Formats Markdown with the settings of this repository. */
export const formatMarkdown = async (markdown: string): Promise<string> =>
  format(markdown, {
    ...(await resolveConfig(join(root, 'README.md'))),
    parser: 'markdown',
  });

/** Replaces the generated parts of a page. */
export const withResults = async (page: string, results: Results): Promise<string> =>
  formatMarkdown(
    page.replaceAll(
      /(<!-- bench: (\w+) -->)[^]*?(<!-- end of bench -->)/g,
      (_, begin: string, name: string, end: string) => {
        const block = blocks[name];
        if (block === undefined) throw new Error(`unknown generated part "${name}"`);
        return `${begin}\n\n${block(results)}\n\n${end}`;
      },
    ),
  );

/** Writes the pages and the plots, and returns their paths. */
export const writeReport = async (results: Results): Promise<readonly string[]> => {
  for (const page of pages) {
    const path = join(root, page);
    await writeFile(path, await withResults(await readFile(path, 'utf8'), results));
  }
  const plots = Object.entries(plotsOf(results));
  for (const [file, plot] of plots)
    await writeFile(join(root, 'docs/benchmarks', file), await draw(plot));
  return [...pages, ...plots.map(([file]) => `docs/benchmarks/${file}`)];
};
