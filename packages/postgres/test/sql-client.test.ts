import { expect, it } from 'vitest';
import { startProxy } from './postgres-proxy.ts';
import { runSql, sharedUrl } from './shared-postgres.ts';

it('a lost connection rejects its statement, and causes no uncaught exception', async () => {
  const proxy = await startProxy();
  proxy.onStatement(() => 'reset-before');
  const url = proxy.through(sharedUrl('postgres'));
  // An error event without a listener would fail the run.
  await expect(runSql(url, 'SELECT 1')).rejects.toThrow(/ECONNRESET|terminated/);
});
