// Packs every package into a folder, as publishing would: node scripts/pack-packages.mjs <folder>
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const [folder = '.'] = process.argv.slice(2);

// Whoever runs this through pnpm has no other pnpm by that name.
const { npm_execpath: runner = '' } = process.env;
const pnpm = /pnpm(\.exe)?$/.test(runner) ? [runner] : ['npx', '-y', 'pnpm@12'];

const pack = ['-r', '--filter', './packages/*', 'pack', '--pack-destination', resolve(folder)];
const [command, ...args] = [...pnpm, ...pack];
const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
if (status !== 0) {
  process.stderr.write(`The packages could not be packed:\n${stdout}${stderr}`);
  process.exitCode = 1;
}
