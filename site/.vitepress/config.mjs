import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const page = (text, link) => ({ text, link });
const modules = dirname(fileURLToPath(import.meta.resolve('vue/package.json')));

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
  outDir: 'dist',
  cacheDir: 'cache',
  rewrites: { 'README.md': 'index.md', ':folder(.*)/README.md': ':folder/index.md' },
  // Pages link to source files and folders of the repository, which are not part of the site.
  ignoreDeadLinks: [
    /\.(ts|mjs|svg|json|capnp|conf|yaml|service)$/,
    /(^|\/)(LICENSE|Caddyfile|Dockerfile)/,
    /\/(examples|bench|deploy|tests|packages\/\w+|docs)(\/[\w-]+)*\/?(index)?$/,
  ],
  // Pages are outside this folder, where the packages of the generator are.
  vite: {
    resolve: {
      alias: [
        { find: /^vue\/server-renderer$/, replacement: `${modules}/server-renderer/index.mjs` },
        { find: /^vue$/, replacement: `${modules}/dist/vue.runtime.esm-bundler.js` },
      ],
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: 'deep',
    sidebar: [
      {
        text: 'Start',
        items: [page('Quick start', '/'), page('Operating the server', '/docs/operating')],
      },
      {
        text: 'Guide',
        items: [
          page('Core', '/packages/core/'),
          page('Server', '/packages/server/'),
          page('Client', '/packages/client/'),
          page('Stores', '/docs/stores'),
          page('SQLite', '/packages/sqlite/'),
          page('PostgreSQL', '/packages/postgres/'),
        ],
      },
      {
        text: 'Reference',
        items: [
          page('Operation and errors', '/docs/reference'),
          { text: 'OpenAPI', link: '/openapi.html', target: '_self' },
          page('API', '/docs/api/'),
        ],
      },
      {
        text: 'Background',
        items: [
          page('Scaling', '/docs/scaling'),
          page('Threat model', '/docs/threat-model'),
          page('Benchmarks', '/docs/benchmarks'),
          page('Decisions', '/docs/decisions/'),
        ],
      },
    ],
  },
};
