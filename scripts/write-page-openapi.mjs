/** Writes the document of the OpenAPI page: Redoc shows a variable server as a path of the page's own site. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const document = JSON.parse(readFileSync('packages/core/openapi.json', 'utf8'));
const servers = document.servers.map(({ url, variables }) => ({
  url: url.replace('{base_url}', variables.base_url.default),
}));
mkdirSync('site/dist', { recursive: true });
writeFileSync('site/dist/page-openapi.json', JSON.stringify({ ...document, servers }));
