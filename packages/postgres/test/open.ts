import { onTestFinished } from 'vitest';
import { openPostgresRepository, type PostgresOptions } from '../src/open-postgres-repository.ts';
import { runSql, sharedUrl } from './shared-postgres.ts';

/** Time limits that no test reaches, however busy the machine is. */
export const longTimeouts = {
  deadlineMs: 60_000,
  connectTimeoutMs: 30_000,
  statementTimeoutMs: 30_000,
} as const;

/** Opens a repository, and closes it after the test. */
export const open = async (url: string, options: Partial<PostgresOptions> = {}) => {
  const opened = await openPostgresRepository({ url, ...longTimeouts, ...options });
  const repository = opened._unsafeUnwrap();
  onTestFinished(repository.close);
  return repository;
};

/** Opens a database that is expected to fail, and returns the error. */
export const failToOpen = async (url: string, options: Partial<PostgresOptions> = {}) =>
  (await openPostgresRepository({ url, ...longTimeouts, ...options }))._unsafeUnwrapErr();

/** Opens and closes a repository. */
export const openAndClose = async (url: string) =>
  (await openPostgresRepository({ url, ...longTimeouts }))._unsafeUnwrap().close();

/** Creates a role with the LOGIN attribute and a password. */
export const newRole = async (database: string) => {
  const role = { user: `${database}_role`, password: 'r0le-p@ss:word' };
  await runSql(sharedUrl('postgres'), `CREATE ROLE ${role.user} LOGIN PASSWORD '${role.password}'`);
  return role;
};
