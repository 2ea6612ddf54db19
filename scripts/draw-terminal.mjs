// Draws docs/terminal.svg from a real run: create a plant, kill the server, start it again, and create another plant with the same id.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../packages/plantstore/src/bin.ts', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'terminal-'));
const lines = [];

const start = async () => {
  lines.push('$ PLANTSTORE_TOKENS=secret npx -y pnpm@12 start');
  const server = spawn(
    process.execPath,
    ['--conditions=@plantstore/source', program, '--log', 'pretty'],
    { cwd: folder, env: { PLANTSTORE_TOKENS: 'secret' } },
  );
  const [line] = await once(server.stdout.setEncoding('utf8'), 'data');
  lines.push(...line.trimEnd().split('\n'));
  return server;
};

const create = async (plant) => {
  lines.push(
    '$ curl http://127.0.0.1:3000/plants \\',
    "  -H 'Authorization: Bearer secret' \\",
    "  -H 'Content-Type: application/json' \\",
    `  -d '${plant}'`,
  );
  const response = await fetch('http://127.0.0.1:3000/plants', {
    method: 'POST',
    headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
    body: plant,
  });
  lines.push(await response.text());
};

const first = await start();
await create('{"id":1,"name":"Monstera"}');
first.kill('SIGKILL');
await once(first, 'close');
lines.push(`$ kill -9 ${first.pid}`);
const second = await start();
await create('{"id":1,"name":"Ficus"}');
second.kill();
await once(second, 'close');
await rm(folder, { recursive: true });

const columns = 48;
/** Splits a line at spaces, so that it can be read on a phone. Commands are short enough. */
const wrap = (line) => {
  if (/^[$ ]/.test(line)) return [{ text: line, color: '#fff' }];
  const pattern = new RegExp(`.{1,${columns - 4}}( |$)|\\S+`, 'g');
  return (line.match(pattern) ?? []).map((part, index) => ({
    text: (index > 0 ? '  ' : '') + part.trimEnd(),
    color: '#9fd8a4',
  }));
};
const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const rows = lines.flatMap(wrap);
const shown = rows.map(
  ({ text, color }, index) =>
    `<text x="16" y="${32 + index * 22}" fill="${color}" xml:space="preserve">${escape(text)}</text>`,
);
const width = 32 + 8.5 * columns;
const height = 28 + rows.length * 22;
await writeFile(
  new URL('../docs/terminal.svg', import.meta.url),
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="monospace" font-size="14">
<rect width="100%" height="100%" rx="8" fill="#1b1f24"/>
${shown.join('\n')}
</svg>
`,
);
