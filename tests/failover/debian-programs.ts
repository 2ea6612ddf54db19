import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Paths of the programs of a cluster. */
export type Programs = ReturnType<typeof findPrograms>;

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Finds the programs. Throws an error with the Debian packages to install when one is missing. */
export const findPrograms = () => {
  const missing: string[] = [];
  const find = (name: string, debianPackage: string, folders: readonly string[]): string => {
    const found = folders.map((folder) => join(folder, name)).find(isProgram);
    if (found === undefined) missing.push(debianPackage);
    return found ?? '';
  };
  const path = (process.env['PATH'] ?? '').split(delimiter);
  // PostgreSQL's server programs are not in the path on Debian.
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const newest = versions.toSorted((one, other) => Number(other) - Number(one));
  const programs = {
    etcd: find('etcd', 'etcd-server', path),
    patroni: find('patroni', 'patroni', path),
    postgres: find(
      'postgres',
      'postgresql',
      newest.map((version) => `/usr/lib/postgresql/${version}/bin`),
    ),
  };
  if (missing.length === 0) return programs;
  throw new Error(
    `the failover test cannot find the programs of a cluster. On Debian, run: apt-get install ${missing.join(' ')}`,
  );
};
