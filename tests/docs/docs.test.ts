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

it('a page that says "one operation" is right about openapi.json', () => {
  const { paths } = JSON.parse(read('packages/core/openapi.json')) as {
    readonly paths: Readonly<Record<string, object>>;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const sayOne = ['package.json', ...pages].filter((file) => /\bone operation\b/i.test(read(file)));
  expect(sayOne).not.toEqual([]);
  const wrong = operations.length === 1 ? [] : sayOne;
  expect({ operations, wrong }).toEqual({ operations: ['POST /plants'], wrong: [] });
});

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
      expect(Object.fromEntries(documented), `docstrings of ${folder}`).toEqual(options);
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

it.each(globSync('packages/!(plantstore)', { cwd: root }))(
  'the README of %s contains every subpath that the package exports',
  (folder) => {
    const { name, exports } = JSON.parse(read(`${folder}/package.json`)) as Manifest;
    const subpaths = Object.keys(exports).filter((key) => !/^\.(?:\/package\.json)?$/.test(key));
    const page = read(`${folder}/README.md`);
    const missing = subpaths.filter(
      (subpath) => !page.includes(`\`${posix.join(name, subpath)}\``),
    );
    expect(missing).toEqual([]);
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
