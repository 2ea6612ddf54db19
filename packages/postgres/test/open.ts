import { onTestFinished } from 'vitest';
import { openPostgresRepository, type PostgresOptions } from '../src/repository.ts';
import { newDatabase, runSql, sharedUrl } from './shared-postgres.ts';

/** No deadline and limit, and long timeouts, because a busy machine may delay each statement. */
export const noLimits = {
  deadlineMs: Infinity,
  maxWaiting: Infinity,
  connectTimeoutMs: 30_000,
  statementTimeoutMs: 30_000,
} as const;

/** Opens a repository, and closes it after the test. */
export const open = async (url: string, options: Partial<PostgresOptions> = {}) => {
  const openOnce = async () => openPostgresRepository({ url, ...noLimits, ...options });
  let opened = await openOnce();
  // A busy machine may delay a statement of the opening longer than the short timeout of a test.
  const attempts = options.statementTimeoutMs === undefined ? 1 : 20;
  for (let count = 1; opened.isErr() && count < attempts; count += 1) opened = await openOnce();
  const repository = opened._unsafeUnwrap();
  onTestFinished(repository.close);
  return repository;
};

/** Opens a database that is expected to fail, and returns the error. */
export const failToOpen = async (url: string, options: Partial<PostgresOptions> = {}) =>
  (await openPostgresRepository({ url, ...noLimits, ...options }))._unsafeUnwrapErr();

/** Part of the reason when a statement has no response in time. */
export const noResponseWithin = (milliseconds: number) => `no response within ${milliseconds} ms`;

/** Opens and closes a repository. */
export const openAndClose = async (url: string) =>
  (await openPostgresRepository({ url, ...noLimits }))._unsafeUnwrap().close();

/** Returns the URL of a server with the ports of several. */
export const urlOfAll = (
  server: { readonly url: () => string },
  all: readonly { readonly port: number }[],
) => server.url().replace(/127\.0\.0\.1:\d+/, all.map(({ port }) => `127.0.0.1:${port}`).join());

/** Creates a role with the LOGIN attribute and a password. */
export const newRole = async (database: string) => {
  const role = { user: `${database}_role`, password: 'r0le-p@ss:word' };
  await runSql(sharedUrl('postgres'), `CREATE ROLE ${role.user} LOGIN PASSWORD '${role.password}'`);
  return role;
};

/** Creates a database with the table, and a role. Returns URLs of the superuser and the role. */
export const newTable = async (privileges = 'SELECT, INSERT') => {
  const database = await newDatabase();
  const role = await newRole(database);
  const direct = sharedUrl(database);
  await openAndClose(direct);
  await runSql(direct, `GRANT ${privileges} ON plants TO ${role.user}`);
  return { database, direct, role, url: sharedUrl(database, role) };
};
