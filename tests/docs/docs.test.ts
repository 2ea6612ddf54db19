import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { errorTable } from '@plantstore/core/errors';
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../packages/server/src/http/limits.ts';
import {
  defaultOf,
  flagOf,
  settingNames,
  settingTable,
  variableOf,
} from '../../packages/plantstore/src/settings/setting-table.ts';
import { pages, read, root } from './pages.ts';

type Block = { line: number; language: string; code: string; source: string | undefined };

const fencedBlock = /^(?:<!-- (\S+) -->\n\n?)?```(\w*)[^\n]*\n(.*?)^```$/gms;

const blocksOf = (page: string): Block[] => {
  const text = read(page);
  return [...text.matchAll(fencedBlock)].map(({ index, 1: source, 2: language, 3: code }) => ({
    line: text.slice(0, index).split('\n').length,
    language: language ?? '',
    code: code ?? '',
    source,
  }));
};

describe('the code in a page', () => {
  it.each(pages)('the code in %s equals the file that is named above it', (page) => {
    for (const { line, code, source } of blocksOf(page)) {
      if (source === undefined) continue;
      expect(existsSync(join(root, source)), `${page}:${line} names ${source}`).toBe(true);
      expect(code, `${page}:${line} against ${source}`).toBe(read(source));
    }
  });

  it.each(pages)('each TypeScript block in %s has the name of a file above it', (page) => {
    const nameless = blocksOf(page)
      .filter(({ language, source }) => /^(ts|typescript)$/.test(language) && source === undefined)
      .map(({ line }) => `${page}:${line}`);
    expect(nameless).toEqual([]);
  });
});

/** Returns the rows of the tables of a page whose first cell matches. */
const rowsOf = (page: string, first: RegExp): string[][] =>
  read(page)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    )
    .filter(([cell = '']) => first.test(cell));

describe('tables of the pages', () => {
  it('the tables of the pages contain every error with its name and status', () => {
    const errors = Object.entries(errorTable).map(([name, { error, status }]) => [
      String(error),
      name,
      String(status),
    ]);
    expect(rowsOf('docs/reference.md', /^\d{4}$/).map((row) => row.slice(0, 3))).toEqual(errors);
  });

  it('the tables of the pages contain every setting with the description of the server', () => {
    const rows = rowsOf('docs/program.md', /^(--[a-z-]+)?$/);
    expect(rows.filter(([, variable = '']) => variable.startsWith('PLANTSTORE_'))).toEqual(
      settingNames.map((name) => [
        flagOf(name) ?? '',
        variableOf(name),
        defaultOf(name),
        settingTable[name].help.replaceAll('\n', ' '),
      ]),
    );
  });

  it('the tables of the pages contain every limit with its default', () => {
    const limits = rowsOf('packages/server/README.md', /^(max|[a-z]+Timeout|keepAlive)/).map(
      ([name = '', , byDefault]) => [name, Number(byDefault)],
    );
    expect(Object.fromEntries(limits)).toEqual(defaultLimits);
  });
});

type Manifest = { exports: Record<string, { '@plantstore/source'?: string }> };
type Typedoc = { entryPoints?: string[] };

// The program exports nothing.
it.each(globSync('packages/!(plantstore)', { cwd: root }))(
  'the API pages show every export of %s',
  (folder) => {
    const { exports } = JSON.parse(read(`${folder}/package.json`)) as Manifest;
    const modules = Object.values(exports).flatMap((entry) => entry['@plantstore/source'] ?? []);
    const file = `${folder}/typedoc.json`;
    const own = existsSync(join(root, file)) ? (JSON.parse(read(file)) as Typedoc) : {};
    const { entryPoints = ['src/index.ts'] } = own;
    expect(entryPoints.map((entryPoint) => `./${entryPoint}`)).toEqual(modules);
  },
);

const sections = ['Install', 'Example', 'Exports', 'Options', 'Errors', 'Limits', 'Runtimes'];

it.each(globSync('packages/!(plantstore)/README.md', { cwd: root }))(
  'the page %s has the sections of every package',
  (page) => {
    const headings = [...read(page).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings.slice(0, sections.length)).toEqual(sections);
  },
);
