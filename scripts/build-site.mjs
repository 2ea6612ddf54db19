/** Writes the site to site/dist. Fails for a missing docstring, an invalid openapi.json and a broken link. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

run('typedoc', '--options', 'docs/typedoc.json');
run('vitepress', 'build', 'site');
writeOpenApiPage();
checkLinks();

function run(program, ...args) {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off' };
  execFileSync(program, args, { stdio: 'inherit', env });
}

function writeOpenApiPage() {
  const source = 'packages/core/openapi.json';
  run('redocly', 'lint', '--extends', 'recommended-strict', source);
  const document = JSON.parse(readFileSync(source, 'utf8'));
  const description = `[All pages of Plantstore](./)\n\n${document.info.description}`;
  // Beside the name of the project, the version of the service would look like the project's.
  const info = { ...document.info, title: 'Plantstore', version: '', description };
  // Redoc shows a variable server as a path of the page's own site.
  const servers = document.servers.filter(({ variables }) => variables === undefined);
  const page = 'site/dist/page-openapi.json';
  writeFileSync(page, JSON.stringify({ ...document, info, servers }));
  const template = ['--inlineBundle', '--template', 'site/openapi.hbs'];
  run('redocly', 'build-docs', page, ...template, '-o', 'site/dist/openapi.html');
}

/** Follows the links within the site, and those to the placeholder of the owner. */
function checkLinks() {
  const skipped = ['^https?://(?!127.0.0.1|github.com/OWNER/)', ':\\d+/plants$'];
  const skip = skipped.flatMap((pattern) => ['--skip', pattern]);
  run('linkinator', 'site/dist', '--recurse', '--check-fragments', '--check-css', ...skip);
}
