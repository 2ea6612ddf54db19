import { existsSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { expect, it } from 'vitest';
import { pages, read, root } from './pages.ts';

const inlineLink = /\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g;

const withoutCodeBlocks = (page: string): string => read(page).replaceAll(/^```.*?^```$/gms, '');

const linksOf = (page: string): string[] => {
  const prose = withoutCodeBlocks(page).replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(inlineLink)].map(([, target = '']) => target);
};

/** Returns the anchors of a page, as GitHub makes them from its headings. */
const anchorsOf = (page: string): Set<string> => {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutCodeBlocks(page).matchAll(/^#+ (.*)$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
};

const anchors = new Map(pages.map((page) => [page, anchorsOf(page)]));

it.each(pages)('the links of %s lead to existing files and headings', (page) => {
  const dead = linksOf(page)
    .filter((target) => !/^[a-z][a-z+.-]*:/i.test(target))
    .filter((target) => {
      const [path = '', anchor] = decodeURIComponent(target).split('#');
      const file = path === '' ? page : posix.join(dirname(page), path);
      const isPage = anchors.get(file)?.has(anchor ?? '') ?? false;
      return !existsSync(join(root, file)) || (anchor !== undefined && !isPage);
    });
  expect(dead).toEqual([]);
});

it('the links of the README lead to every guide, every package and every index', () => {
  const linked = linksOf('README.md').map((target) => target.replace(/#.*/, ''));
  const expected = pages.filter((page) =>
    /^(docs\/([\w-]+|\w+\/README)|packages\/\w+\/README)\.md$/.test(page),
  );
  expect(linked).toEqual(expect.arrayContaining(expected));
});
