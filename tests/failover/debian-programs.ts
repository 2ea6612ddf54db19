import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Paths of the programs of a cluster. */
export type Programs = {
  readonly etcd: string;
  readonly patroni: string;
  /** Folder of PostgreSQL's server programs, which is not in the path on Debian. */
  readonly postgresFolder: string;
};

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const inPath = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isProgram);

const versions = '/usr/lib/postgresql';

const newestPostgres = (): string | undefined =>
  (existsSync(versions) ? readdirSync(versions) : [])
    .toSorted((one, other) => Number(other) - Number(one))
    .map((version) => join(versions, version, 'bin'))
    .find((folder) => isProgram(join(folder, 'postgres')));

/** Finds the programs. Throws an error with the packages to install when one is missing. */
export const findPrograms = (): Programs => {
  const etcd = inPath('etcd');
  const patroni = inPath('patroni');
  const postgresFolder = newestPostgres();
  if (etcd !== undefined && patroni !== undefined && postgresFolder !== undefined) {
    return { etcd, patroni, postgresFolder };
  }
  const missing = [
    etcd === undefined ? 'etcd-server' : '',
    patroni === undefined ? 'patroni' : '',
    postgresFolder === undefined ? 'postgresql' : '',
  ].filter((name) => name !== '');
  throw new Error(
    `the failover test cannot find the programs of a cluster. On Debian, run: apt-get install ${missing.join(' ')}`,
  );
};
