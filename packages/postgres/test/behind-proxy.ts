import type { PostgresOptions } from '../src/repository.ts';
import { open } from './open.ts';
import { type PostgresProxy, startProxy, type StatementAction } from './postgres-proxy.ts';
import { emptyDatabase, sharedUrl } from './shared-postgres.ts';

/** Opens a repository on a new database through a proxy. */
export const openBehindProxy = async (options: Partial<PostgresOptions> = {}) => {
  const proxy = await startProxy();
  const direct = sharedUrl(await emptyDatabase());
  const url = proxy.through(direct);
  return { proxy, direct, url, repository: await open(url, options) };
};

/** Applies one action to each of the next matching statements. */
export const handleNext = (
  proxy: PostgresProxy,
  pattern: RegExp,
  ...actions: StatementAction[]
) => {
  proxy.onStatement(({ text }) => (pattern.test(text) ? (actions.shift() ?? 'pass') : 'pass'));
};

/** Number of inserts that were sent. */
export const insertsIn = ({ statements }: PostgresProxy): number =>
  statements.filter(({ text }) => text.startsWith('INSERT')).length;

/** Returns plants with consecutive ids. */
export const plantsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: BigInt(first + index), name: 'Monstera' }));

export const monstera = { id: 7n, name: 'Monstera', tag: 'climber' };
