import { globSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { read, root } from './pages.ts';

type EntryPoint = { readonly page: string; readonly module: string; readonly api: string };

const entryPoints: EntryPoint[] = globSync('packages/*/package.json', { cwd: root })
  .toSorted()
  .flatMap((manifest) => {
    const { name, exports } = JSON.parse(read(manifest)) as {
      readonly name: string;
      readonly exports: Record<string, unknown>;
    };
    const folder = posix.dirname(manifest);
    return Object.keys(exports)
      .filter((subpath) => !subpath.endsWith('.json'))
      .map((subpath) => ({
        page: `${folder}/README.md`,
        module: posix.join(name, subpath),
        api: `docs/api/${posix.basename(folder)}${subpath.slice(1).replace('/', '.')}.md`,
      }));
  });

/** Returns the exports of an API page, which CI compares with the code, as links to their headings. */
const exportsOf = (api: string): string[] => {
  const links: string[] = [];
  for (const [, name = ''] of read(api).matchAll(/^### (\w+)/gm)) {
    const link = `[${name}](${api}#${name.toLowerCase()}`;
    // A schema and its type have one name.
    links.push(links.includes(`${link})`) ? `${link}-1)` : `${link})`);
  }
  return links;
};

const sectionOf = (page: string, heading: string): string =>
  new RegExp(`^## ${heading}\n(.*?)(?=^## |$(?![^]))`, 'ms').exec(read(page))?.[1] ?? '';

/** Returns the links in the first cells of the tables in the section "Exports" of a package page. */
const rowsOf = ({ page, api }: EntryPoint): string[] =>
  [...sectionOf(page, 'Exports').matchAll(/^\| \[`(\w+)`\]\(([^)]+)\)/gm)]
    .map(([, name, target = '']) => ({ name, target: posix.join(posix.dirname(page), target) }))
    .filter(({ target }) => target.startsWith(`${api}#`))
    .map(({ name, target }) => `[${name}](${target})`);

describe.each(entryPoints)('the exports of $module', (entryPoint) => {
  it('are those in the table of its package page', () => {
    expect(rowsOf(entryPoint).toSorted()).toEqual(exportsOf(entryPoint.api).toSorted());
  });

  it('are those of its API page', async () => {
    const documented = exportsOf(entryPoint.api).map((link) => /\w+/.exec(link)?.[0]);
    const values = Object.keys((await import(entryPoint.module)) as object);
    expect(documented).toEqual(expect.arrayContaining(values));
  });
});

/** Returns the members of a type on an API page, each as a heading or as a row of a table. */
const membersOf = (api: string, name: string): string[] => {
  const [section = ''] =
    new RegExp(`^### ${name}\n(?!\n> .const).*?(?=^### |^## |$(?![^]))`, 'ms').exec(read(api)) ??
    [];
  const headings = section.match(/(?<=^##### )\w+\??$/gm) ?? [];
  return headings.length > 0 ? headings : (section.match(/(?<=^\| <a .*<\/a> `)\w+\??/gm) ?? []);
};

it.each(entryPoints)('$page lists the members of the types of $module', ({ page, api }) => {
  const rows = sectionOf(page, 'Exports').matchAll(
    /^\| \[`(\w+)`\]\([./]+([^#]+)#[^)]*\) +\| `\{ ([\w?, ]+) \}`/gm,
  );
  for (const [, name = '', target, members] of rows) {
    if (target === api) expect([name, members]).toEqual([name, membersOf(api, name).join(', ')]);
  }
});

const sections = ['Install', 'Example', 'Exports', 'Options', 'Errors', 'Limits', 'Runtimes'];

it.each([...new Set(entryPoints.map(({ page }) => page))])('%s has the sections of all', (page) => {
  const headings = [...read(page).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  expect(headings.slice(0, sections.length)).toEqual(sections);
});
