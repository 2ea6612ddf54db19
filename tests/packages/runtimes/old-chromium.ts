import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import type { Stranger } from '../stranger.ts';

/** The npm package that has the oldest promised Chromium in it; that of Debian is always a new one. */
const npmPackage = 'chrome-aws-lambda@9.1.0';

const unpack = promisify(brotliDecompress);

/** Installs the oldest promised Chromium and gives its path, and where its libraries are. */
export const installOldChromium = async ({
  folder,
  run,
}: Stranger): Promise<{ readonly program: string; readonly libraries: string }> => {
  const target = join(folder, 'old-chromium');
  // It asks for a library that drives it, which is not needed.
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
