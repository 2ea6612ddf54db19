// Checks that a browser bundle of the client contains no part of zod, and none of these strings.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'tsup';

const zodMarks = ['ZodError', '$ZodType', '$ZodCheck', '_zod', 'toJSONSchema'];
const clientMarks = [
  ...zodMarks,
  // Node modules and globals, and the replacements of a bundler.
  'node:',
  'process.',
  'Buffer.',
  'require(',
  // Messages of core that only the server uses.
  'a JSON body is required',
  'another plant has this id',
  'sourceMappingURL',
];
const folder = mkdtempSync(join(tmpdir(), 'plantstore-bundles-'));

const marksIn = async (packageName, marks) => {
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

const report = (ok, line) => {
  process.stdout.write(`${line}\n`);
  if (!ok) process.exitCode = 1;
};

try {
  const found = await marksIn('client', clientMarks);
  report(
    found.length === 0,
    `forbidden strings in the bundle of the client (of ${clientMarks.length}): ${found.length === 0 ? 'none' : found.join(', ')}`,
  );
  // A positive control, because the names may change with a version of zod.
  if ((await marksIn('core', zodMarks)).length === 0)
    report(false, 'zod is not found in the bundle of core either: update zodMarks');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
