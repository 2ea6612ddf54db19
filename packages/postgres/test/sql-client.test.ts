import { expect, inject, it, onTestFinished } from 'vitest';
import { startProxy } from './postgres-proxy.ts';
import { runSql, sharedUrl } from './shared-postgres.ts';

it('a connection that is lost rejects the statement of a test, and nothing else', async () => {
  const proxy = await startProxy(inject('postgresPort'));
  onTestFinished(proxy.close);
  proxy.judge(() => 'reset-before');
  const url = sharedUrl('postgres').replace(`:${inject('postgresPort')}/`, `:${proxy.port}/`);
  // An error that no listener takes would fail the run.
  await expect(runSql(url, 'SELECT 1')).rejects.toThrow(/ECONNRESET|terminated/);
});
