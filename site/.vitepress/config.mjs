import { existsSync, readFileSync, statSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// `pnpm dlx` fetches packages into a folder elsewhere. VitePress, which is running, is there.
const fetched = (name, file) =>
  join(dirname(findPackageJSON(name, pathToFileURL(process.argv[1]))), file);
const { renderMermaidSVG } = await import(fetched('beautiful-mermaid', 'dist/index.js'));
const page = (text, link) => ({ text, link });
const root = fileURLToPath(new URL('../../', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const repository = manifest.repository.url.replace(/^git\+|\.git$/g, '');

/** Returns the anchor of a heading as GitHub makes it, so that links work in both places. */
const slugify = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

const isPlaceholder = repository.includes('/OWNER/');

/** Returns where a link of a page leads on the site, or undefined without a target. */
const targetOf = (href, source) => {
  if (/^([a-z]+:|#)|\.html(#|$)/.test(href)) return href;
  // `rewrites` renames these pages, but not the links to them.
  if (/\.md(#|$)/.test(href)) return href.replace(/\bREADME\.md/, 'index.md');
  const file = resolve(dirname(source), href);
  // The module that a package exports has a page.
  const [, folder, module] = /packages\/(\w+)\/src\/([\w-]+)\.ts$/.exec(file) ?? [];
  const name = module === 'index' ? folder : `${folder}.${module}`;
  if (existsSync(join(root, `site/api/${name}.md`))) return `/api/${name}.md`;
  // Other files and folders are only in the repository.
  if (isPlaceholder) return undefined;
  const kind = statSync(file).isDirectory() ? 'tree' : 'blob';
  return `${repository}/${kind}/HEAD/${relative(root, file)}`;
};

/** Makes relative links lead to the pages of the site, or to the repository. */
const linkPages = (md) => {
  md.core.ruler.push('link-pages', ({ tokens, env }) => {
    const links = tokens.flatMap(({ children }) => children ?? []);
    for (const link of links.filter(({ type }) => type === 'link_open')) {
      const href = targetOf(link.attrGet('href'), env.realPath ?? env.path);
      // Without `href`, `<a>` is text.
      link.attrs = href === undefined ? null : [['href', href]];
    }
  });
};

/** Lets long names and JSON break after punctuation, so that the tables fit. */
const breakCode = (md) => {
  const { code_inline: render } = md.renderer.rules;
  md.renderer.rules.code_inline = (...args) =>
    render(...args).replace(/>.*</s, (code) => code.replaceAll(/[_,:]/g, '$&<wbr>'));
};

/** Draws blocks of Mermaid as SVG, in the colours of the theme. */
const drawMermaid = (md) => {
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index];
    if (info !== 'mermaid') return fence(tokens, index, ...rest);
    const colours = {
      bg: 'var(--vp-c-bg)',
      fg: 'var(--vp-c-text-1)',
      transparent: true,
      padding: 8,
    };
    const svg = renderMermaidSVG(content, colours)
      .replace(/@import .*/, '')
      .replace("'Inter', system-ui, sans-serif", 'inherit');
    return `<div class="diagram" v-html="${md.utils.escapeHtml(JSON.stringify(svg))}"></div>`;
  };
};

export default {
  title: 'Plantstore',
  description: 'A small HTTP service that creates plants: a server, a library and a client',
  srcDir: '..',
  srcExclude: [
    '**/node_modules/**',
    '**/CHANGELOG.md',
    '.changeset/**',
    '.github/**',
    'bench/**',
    'tests/**',
  ],
  head: [['link', { rel: 'icon', href: '/favicon.svg' }]],
  outDir: 'dist',
  cacheDir: 'cache',
  rewrites: {
    'README.md': 'index.md',
    'site/api/README.md': 'api/index.md',
    'site/api/:page.md': 'api/:page.md',
    ':folder(.*)/README.md': ':folder/index.md',
  },
  markdown: {
    anchor: { slugify },
    config: (md) => {
      linkPages(md);
      breakCode(md);
      drawMermaid(md);
    },
  },
  // Pages and the packages of the generator are in different folders.
  vite: {
    publicDir: fileURLToPath(new URL('../public', import.meta.url)),
    resolve: {
      alias: [
        {
          find: /^vue\/server-renderer$/,
          replacement: fetched('vue', 'server-renderer/index.mjs'),
        },
        { find: /^vue$/, replacement: fetched('vue', 'dist/vue.runtime.esm-bundler.js') },
      ],
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    socialLinks: isPlaceholder ? undefined : [{ icon: 'github', link: repository }],
    sidebar: [
      {
        text: 'Start',
        items: [page('Plantstore', '/'), page('Guide', '/docs/guide')],
      },
      {
        text: 'Packages',
        items: [
          page('Core', '/packages/core/'),
          page('Program', '/packages/plantstore/'),
          page('Server', '/packages/server/'),
          page('Client', '/packages/client/'),
          page('SQLite', '/packages/sqlite/'),
          page('PostgreSQL', '/packages/postgres/'),
        ],
      },
      {
        text: 'Guides',
        items: [
          page('Stores', '/docs/stores'),
          page('Custom stores and rules', '/docs/custom-stores'),
          page('Embedding the server', '/docs/embedding'),
          page('Client recipes', '/docs/client-recipes'),
          page('Operating the server', '/docs/operating'),
        ],
      },
      {
        text: 'Reference',
        items: [
          page('Operation and errors', '/docs/reference'),
          { text: 'OpenAPI', link: '/openapi.html', target: '_self' },
          page('Settings and commands', '/docs/program'),
          page('Log, metrics and traces', '/docs/observability'),
          page('API', '/api/'),
        ],
      },
      {
        text: 'Background',
        items: [
          page('Architecture', '/docs/architecture'),
          page('Decisions', '/docs/decisions/'),
          page('Threat model', '/docs/threat-model'),
          page('Benchmarks', '/docs/benchmarks'),
          page('Releases', '/docs/releases'),
          page('Contributing', '/CONTRIBUTING'),
          page('Security', '/SECURITY'),
        ],
      },
    ],
  },
};
