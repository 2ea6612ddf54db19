import { openPostgresRepository } from '../src/open-postgres-repository.ts';
import { runSql, sharedUrl } from './shared-postgres.ts';

/** Opens a database that is expected to fail, and returns the error. */
export const failToOpen = async (url: string) =>
  (await openPostgresRepository({ url, connectTimeoutMs: 1_000 }))._unsafeUnwrapErr();

/** Opens and closes a repository. */
export const openAndClose = async (url: string) =>
  (await openPostgresRepository({ url }))._unsafeUnwrap().close();

/** Creates a role with the LOGIN attribute and a password. */
export const newRole = async (database: string) => {
  const role = { user: `${database}_role`, password: 'r0le-p@ss:word' };
  await runSql(sharedUrl('postgres'), `CREATE ROLE ${role.user} LOGIN PASSWORD '${role.password}'`);
  return role;
};
