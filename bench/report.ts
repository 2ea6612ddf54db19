import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { drawCpu } from './plots.ts';
import type { Parts, Results } from './results.ts';
import { summaryTable, tableOf } from './tables.ts';

/** Writes the files that contain results, and returns their paths. */
export async function writeReport(results: Results): Promise<readonly string[]> {
  for (const [file, write] of Object.entries(files)) {
    const path = join(root, file);
    await writeFile(path, await write(await readFile(path, 'utf8'), results));
  }
  return Object.keys(files);
}

/** The files that contain results, with what writes their text from the previous one. */
export const files: Readonly<
  Record<string, (text: string, results: Results) => Promise<string> | string>
> = {
  'README.md': withResults,
  'docs/benchmarks.md': withResults,
  'docs/benchmarks/cpu.svg': (_, { servers }) => drawCpu(servers),
};

/** Replaces the parts of a page between `<!-- bench: name -->` and `<!-- end of bench -->`. */
export async function withResults(page: string, results: Results): Promise<string> {
  return formatMarkdown(
    page.replaceAll(
      /(<!-- bench: (\w+) -->)[^]*?(<!-- end of bench -->)/g,
      (_, begin: string, name: string, end: string) => {
        const block = blocks[name];
        if (block === undefined) throw new Error(`unknown generated part "${name}"`);
        return `${begin}\n\n${block(results)}\n\n${end}`;
      },
    ),
  );
}

/** Formats Markdown with the settings of this repository. */
export async function formatMarkdown(markdown: string): Promise<string> {
  const settings = await resolveConfig(join(root, 'README.md'));
  return format(markdown, { ...settings, parser: 'markdown' });
}

const root = join(import.meta.dirname, '..');

const blocks: Readonly<Record<string, (results: Results) => string>> = {
  run: ({ date, machine }) => `Measured on ${date.slice(0, 10)}: ${machine}.`,
  summary: ({ servers }) => summaryTable(servers),
  servers: (results) => blockOf('servers', results),
  growth: (results) => blockOf('growth', results),
};

function blockOf(part: keyof Parts, results: Results): string {
  return `Rounds: ${results[part].rounds}.\n\n${tableOf(part, results[part])}`;
}
