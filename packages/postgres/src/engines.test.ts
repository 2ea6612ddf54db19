import { describeRepository } from '@plantstore/core/repository-contract';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { startProxy } from '../test/postgres-proxy.ts';
import { newDatabase, sharedUrl } from '../test/shared-postgres.ts';
import { openPostgresRepository } from './open-postgres-repository.ts';

// These engines are not to be had from npm; a PostgreSQL that calls itself one shows which
// statements they would get, and that these are right wherever they are understood.
const engines = [
  {
    version: 'CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu, built 2026/01/02, go1.24)',
    insert: /VALUES \(\$1::bigint, \$2::text, \$3::text\)/,
    // Its text depends on the number of plants.
    prepares: false,
  },
  {
    version: 'PostgreSQL 15.2-YB-2.25.1.0-b0 on x86_64-pc-linux-gnu, compiled by clang',
    insert:
      /unnest\(\$1::bigint\[\], \$2::text\[\], .*\) AS new \(id, name, tag, tagged\) ON CONFLICT/,
    prepares: true,
  },
];

const openAs = async (version: string) => {
  const proxy = await startProxy(inject('postgresPort'));
  proxy.judge(({ text }) => (text === 'SELECT version()' ? { text: version } : 'pass'));
  const url = sharedUrl(await newDatabase());
  const repository = (
    await openPostgresRepository({
      url: url.replace(`:${inject('postgresPort')}/`, `:${proxy.port}/`),
    })
  )._unsafeUnwrap();
  const dispose = async () => {
    await repository.close();
    await proxy.close();
  };
  return { proxy, repository, dispose };
};

describe.each(engines)('$version', ({ version, insert, prepares }) => {
  describeRepository({ describe, it, expect }, 'the repository on it', async () => openAs(version));

  it('gets statements that it understands', async () => {
    const { proxy, repository, dispose } = await openAs(version);
    onTestFinished(dispose);
    const monstera = { id: 7n, name: 'Monstera' };
    await repository.create(monstera);
    await repository.create(monstera);
    const sent = proxy.statements.map(({ text }) => text);
    expect(sent.filter((text) => text.startsWith('INSERT') && insert.test(text)).length).toBe(2);
    expect(proxy.statements.some(({ name }) => name !== '')).toBe(prepares);
    expect(sent.join('\n')).not.toMatch(/synchronous_commit|lock_timeout|emit_message/);
  });

  it('has its retry errors retried', async () => {
    const { proxy, repository, dispose } = await openAs(version);
    onTestFinished(dispose);
    // cockroachlabs.com: 40001 restart transaction, 40003 ambiguous result; docs.yugabyte.com: 40001,
    // 40P01, and 57P01 or a reset when a node leaves; 55P03 where a session has a lock timeout.
    const codes = ['40001', '40003', '40P01', '55P03', '57P01', '08006', 'reset-after'] as const;
    for (const code of codes) {
      let left = 2;
      proxy.judge(({ text }) => {
        if (text === 'SELECT version()') return { text: version };
        left -= text.startsWith('INSERT') ? 1 : 0;
        if (!text.startsWith('INSERT') || left < 0) return 'pass';
        if (code === 'reset-after') return code;
        return code === '40003' ? { errorAfter: code } : { error: code };
      });
      expect((await repository.create({ id: 8n, name: 'Ficus' })).isOk()).toBe(true);
      expect((await repository.create({ id: 8n, name: 'Other' })).isErr()).toBe(true);
    }
  });
});
