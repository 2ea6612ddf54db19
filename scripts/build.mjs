// Builds every package into its dist folder, for publishing. With --no-declarations, only what runs.
import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

process.chdir(join(import.meta.dirname, '..'));

const run = (tool, ...args) => {
  // On standard error, because the next program may use standard output.
  const { status } = spawnSync(process.execPath, [join('node_modules', tool), ...args], {
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) process.exit(1);
};

// Files of an earlier build would be packed, too, and tsc would skip an up-to-date project.
for (const dist of globSync('packages/*/dist')) rmSync(dist, { recursive: true });

run('tsup/dist/cli-default.js');
if (process.argv.includes('--no-declarations')) process.exit();

run('typescript/bin/tsc', '-b', ...globSync('packages/*/tsconfig.build.json'));

for (const file of globSync('packages/*/dist/.tsbuildinfo')) rmSync(file);
// tsc keeps imports of `./x.ts`, which is not published. Other tools do not resolve it to x.d.ts.
for (const file of globSync('packages/*/dist/**/*.d.ts')) {
  const text = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    text.replaceAll(/((?:from|import) |import\()(['"])(\.[^'"]+)\.ts\2/g, '$1$2$3.js$2'),
  );
}

// The builds contain their code.
for (const [folder, bundled] of [
  ['packages/core', 'zod'],
  ['packages/plantstore', 'csv-parse'],
  ['packages/sqlite', 'neverthrow'],
]) {
  copyFileSync(
    `${folder}/node_modules/${bundled}/LICENSE`,
    `${folder}/dist/${bundled}-licence.txt`,
  );
}
