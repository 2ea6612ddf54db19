// What the client brings into a browser's bundle must not contain zod, not even a part of it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'tsup';

const marks = ['ZodError', '$ZodType', '$ZodCheck', '_zod', 'toJSONSchema'];
const folder = mkdtempSync(join(tmpdir(), 'plantstore-bundles-'));

const marksIn = async (packageName) => {
  await build({
    config: false,
    silent: true,
    entry: { [packageName]: join(import.meta.dirname, `../packages/${packageName}/dist/index.js`) },
    format: ['esm'],
    platform: 'browser',
    noExternal: [/./],
    treeshake: true,
    outDir: join(folder, packageName),
  });
  const bundle = readFileSync(join(folder, packageName, `${packageName}.js`), 'utf8');
  return marks.filter((mark) => bundle.includes(mark));
};

const say = (ok, line) => {
  process.stdout.write(`${line}\n`);
  if (!ok) process.exitCode = 1;
};

try {
  const found = await marksIn('client');
  say(found.length === 0, `zod in the client's bundle: ${found.join(', ') || 'none'}`);
  // Names change with zod's versions; those of core show that the ones above still are its names.
  if ((await marksIn('core')).length === 0)
    say(false, 'zod is not found in core either: look anew');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
