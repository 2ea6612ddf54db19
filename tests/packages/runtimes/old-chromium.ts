import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import type { Installation } from '../install-outside-workspace.ts';

/** The npm package with the oldest supported Chromium; Debian has only a current one. */
const npmPackage = 'chrome-aws-lambda@9.1.0';

const unpack = promisify(brotliDecompress);

/** Installs the oldest supported Chromium and returns its path and the folder of its libraries. */
export const installOldChromium = async ({
  folder,
  run,
}: Installation): Promise<{ readonly program: string; readonly libraries: string }> => {
  const target = join(folder, 'old-chromium');
  // Without its peer dependency, a driver that is not needed.
  const options = ['--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...options, '--prefix', target, npmPackage]);
  const packed = async (file: string) =>
    unpack(await readFile(join(target, 'node_modules/chrome-aws-lambda/bin', file)));
  const bin = join(target, 'bin');
  await mkdir(bin);
  const program = join(bin, 'chromium');
  await writeFile(program, await packed('chromium.br'), { mode: 0o755 });
  const archive = join(bin, 'libraries.tar');
  await writeFile(archive, await packed('aws.tar.br'));
  await run('tar', ['-xf', archive, '-C', bin]);
  return { program, libraries: join(bin, 'lib') };
};
