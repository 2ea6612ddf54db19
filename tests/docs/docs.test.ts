import { existsSync, globSync } from 'node:fs';
import { join, posix } from 'node:path';
import { errorTable } from '@plantstore/core/errors';
import { describe, expect, it } from 'vitest';
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

it.each(pages)('the code in %s equals the file that is named above it', (page) => {
  for (const { line, language, code, source } of blocksOf(page)) {
    const place = `${page}:${line}`;
    if (source === undefined)
      expect(language, `${place} names no file`).not.toMatch(/^(ts|typescript)$/);
    else expect(code, `${place} against ${source}`).toBe(read(source));
  }
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

it('the error bodies in the pages have the messages of the error table', () => {
  const messages = Object.fromEntries(
    Object.values(errorTable).map(({ error, message }) => [error, message]),
  );
  const bodies = pages.flatMap((page) =>
    [...read(page).matchAll(/\{"error":([1-3]\d+),"message":"([^"]*)"\}/g)].map(
      ([body, number, message = '']) => ({
        number,
        texts: message.split('; '),
        at: `${page}: ${body}`,
      }),
    ),
  );
  expect(bodies.length).toBeGreaterThan(2);
  const outdated = bodies.filter(
    ({ number, texts }) =>
      texts[0] !== messages[Number(number)] ||
      !texts.every((text) => Object.values(messages).includes(text)),
  );
  expect(outdated.map(({ at }) => at)).toEqual([]);
});

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
    const settings = rows.filter(([, variable = '']) => variable.startsWith('PLANTSTORE_'));
    expect(settings, 'docs/program.md').toEqual(
      settingNames.map((name) => [
        flagOf(name) ?? '',
        variableOf(name),
        defaultOf(name),
        settingTable[name].help.replaceAll('\n', ' '),
      ]),
    );
  });

  it.each(['client', 'postgres', 'server'])(
    'the README and the docstrings of %s contain every number that is the default of an option',
    (name) => {
      const folder = `packages/${name}`;
      const source = sourceOf(folder);
      const inDocstrings = numbersIn(source, documentedDefault);
      const inCode = numbersIn(source, defaultInCode).filter(([option]) =>
        inDocstrings.some(([documented]) => documented === option),
      );
      const options = Object.fromEntries(inCode);
      const documented = inDocstrings.filter(([option]) => option in options);
      const inTable = rowsOf(`${folder}/README.md`, /^[a-z]\w+$/).flatMap(([option, ...cells]) =>
        cells.filter((cell) => /^\d+$/.test(cell)).map((cell) => [option, Number(cell)]),
      );
      expect(inCode.length).toBeGreaterThan(2);
      expect.soft(Object.fromEntries(documented), `docstrings of ${folder}`).toEqual(options);
      expect(Object.fromEntries(inTable), `${folder}/README.md`).toEqual(options);
    },
  );
});

/** Returns the code of a package without its tests. */
const sourceOf = (folder: string): string =>
  globSync(`${folder}/src/**/*.ts`, { cwd: root, exclude: ['**/*.test.ts', '**/*.test-d.ts'] })
    .map(read)
    .join('\n');

/** The default in a docstring, and the option below it. */
const documentedDefault =
  /Default:[\s*]*(?<number>\d[\d_]*)(?:(?!\*\/)[^])*\*\/\s*(?:readonly )?(?<option>\w+)/g;

/** An option with its default: `keepAliveTimeoutMs: 75_000,`. */
const defaultInCode = /^ +(?<option>\w+)(?::| =) (?:wholeNumber\()?(?<number>\d[\d_]*),/gm;

const numbersIn = (source: string, pattern: RegExp): (readonly [string, number])[] =>
  [...source.matchAll(pattern)].map(({ groups: { option = '', number = '' } = {} }) => [
    option,
    Number(number.replaceAll('_', '')),
  ]);

type Manifest = { name: string; exports: Record<string, { '@plantstore/source'?: string }> };

// The program exports nothing.
it.each(globSync('packages/!(plantstore)', { cwd: root }))(
  'the API pages and the README of %s have every export',
  (folder) => {
    const { name, exports } = JSON.parse(read(`${folder}/package.json`)) as Manifest;
    const modules = Object.values(exports).flatMap((entry) => entry['@plantstore/source'] ?? []);
    const file = `${folder}/typedoc.json`;
    const own = existsSync(join(root, file)) ? read(file) : '{}';
    const { entryPoints = ['src/index.ts'] } = JSON.parse(own) as { entryPoints?: string[] };
    expect(entryPoints.map((entryPoint) => `./${entryPoint}`)).toEqual(modules);
    const subpaths = Object.keys(exports).filter((key) => !/^\.(?:\/package\.json)?$/.test(key));
    const page = read(`${folder}/README.md`);
    const isMissing = (subpath: string) => !page.includes(`\`${posix.join(name, subpath)}\``);
    expect(subpaths.filter(isMissing)).toEqual([]);
  },
);
