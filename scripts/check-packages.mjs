// Packs every package and looks at the tarballs as a stranger who installs them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

const root = join(import.meta.dirname, '..');
const attw = fileURLToPath(
  new URL('dist/index.js', import.meta.resolve('@arethetypeswrong/cli/package.json')),
);

const run = (command, ...args) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  return { failed: status !== 0, output: `${stdout}${stderr}` };
};

const mayBeIn = /^(package\.json|README\.md|LICENSE|dist\/.+\.js|dist\/.+\.d\.ts)$/;
const isOfTests = /(^|\/)(tests?|test-support)\/|\.test(-d)?\./;
/** What single packages have besides. */
const also = {
  '@plantstore/core': ['openapi.json'],
  '@plantstore/server': ['dist/neverthrow-licence.txt', 'dist/zod-licence.txt'],
};
const mustBeIn = ['package.json', 'README.md', 'LICENSE', 'dist/index.js', 'dist/index.d.ts'];
const importPattern = /(?:\bfrom |\bimport |\bimport\()['"]([^'"]+)['"]/g;

const wrongFiles = (files, name) => {
  const more = also[name] ?? [];
  const isWrong = (file) => !(mayBeIn.test(file) || more.includes(file)) || isOfTests.test(file);
  return [
    ...files.filter(isWrong).map((file) => `${file} does not belong into the package`),
    ...[...mustBeIn, ...more]
      .filter((file) => !files.includes(file))
      .map((file) => `${file} is missing`),
  ];
};

/** Returns what a built file imports, without the examples in its comments. */
const importsOf = (path) => {
  const code = readFileSync(path, 'utf8').replaceAll(/^\s*(\*|\/[*/]).*$/gm, '');
  return [...new Set([...code.matchAll(importPattern)].map(([, specifier]) => specifier))];
};

/** Returns a finding for each relative import whose file is not in the package. */
const danglingImports = (folder, file) =>
  importsOf(join(folder, file))
    .filter((specifier) => specifier.startsWith('.'))
    .filter((specifier) => {
      const path = file.endsWith('.d.ts') ? specifier.replace(/\.js$/, '.d.ts') : specifier;
      return !specifier.endsWith('.js') || !existsSync(join(folder, dirname(file), path));
    })
    .map((specifier) => `${file} imports ${specifier}, which is not there`);

/** Returns a finding for each import of a package that the manifest does not declare. */
const undeclaredImports = (folder, file, { name, dependencies, peerDependencies }) => {
  const declared = Object.keys({ [name]: '', ...dependencies, ...peerDependencies });
  return importsOf(join(folder, file))
    .filter((specifier) => !specifier.startsWith('.') && !isBuiltin(specifier))
    .filter((specifier) => !declared.some((one) => `${specifier}/`.startsWith(`${one}/`)))
    .map((specifier) => `${file} imports ${specifier}, which its manifest does not declare`);
};

const findingsIn = async (tarball, folder) => {
  run('tar', '-xzf', tarball, '-C', folder, '--strip-components=1');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
  const built = files.filter((file) => /\.(js|d\.ts)$/.test(file));
  const text = readFileSync(join(folder, 'package.json'), 'utf8');
  const manifest = JSON.parse(text);
  const { messages, pkg } = await publint({ pkgDir: folder, pack: false, strict: true });
  const types = run(process.execPath, attw, tarball, '--profile', 'esm-only', '-f', 'ascii');
  return {
    name: `${manifest.name}@${manifest.version}`,
    findings: [
      ...wrongFiles(files, manifest.name),
      ...built.flatMap((file) => danglingImports(folder, file)),
      ...built.flatMap((file) => undeclaredImports(folder, file, manifest)),
      ...(text.includes('@plantstore/source') ? ['its manifest leads to the sources'] : []),
      ...(text.includes('workspace:') ? ['its manifest has a workspace: version'] : []),
      ...messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`),
      ...(types.failed ? [`attw: ${types.output}`] : []),
    ],
  };
};

const temporary = mkdtempSync(join(tmpdir(), 'plantstore-packages-'));
try {
  const packed = run(process.execPath, 'scripts/pack-packages.mjs', temporary);
  if (packed.failed) process.stderr.write(packed.output);
  const tarballs = readdirSync(temporary).filter((file) => file.endsWith('.tgz'));
  const packages = readdirSync(join(root, 'packages'));
  if (packed.failed || tarballs.length !== packages.length) {
    process.stderr.write(`${tarballs.length} of ${packages.length} packages were packed\n`);
    process.exitCode = 1;
  }
  for (const tarball of tarballs) {
    const folder = mkdtempSync(join(temporary, 'unpacked-'));
    const { name, findings } = await findingsIn(join(temporary, tarball), folder);
    process.stdout.write(`${name}: ${findings.length === 0 ? 'good' : 'not good'}\n`);
    for (const finding of findings) process.stdout.write(`  ${finding}\n`);
    if (findings.length > 0) process.exitCode = 1;
  }
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
