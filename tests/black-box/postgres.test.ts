import { startPostgres, superuserPassword } from '@plantstore/test-support/postgres-server';
import { expect, it } from 'vitest';
import { post, spawnProgram, startProgram } from './program.ts';

it('servers with one PostgreSQL database share its plants, and do not log its password', async ({
  onTestFinished,
}) => {
  const postgres = await startPostgres();
  onTestFinished(postgres.dispose);
  const env = { PLANTSTORE_DATABASE: postgres.url() };
  const [one, two] = [await startProgram({ env }), await startProgram({ env })];
  expect(await post(one.url, '{"id":9223372036854775807,"name":"Monstera"}')).toMatchObject({
    status: 200,
  });
  expect(await post(two.url, '{"id":9223372036854775807,"name":"Ficus"}')).toMatchObject({
    status: 400,
    error: 1401,
  });
  one.process.kill('SIGKILL');
  expect(await post(two.url, '{"id":9223372036854775807,"name":"Monstera"}')).toMatchObject({
    status: 200,
  });
  two.process.kill('SIGTERM');
  expect(await two.exited).toBe(0);
  expect(two.stdout()).toContain(`postgres://127.0.0.1:${postgres.port}/postgres`);
  expect(two.stdout() + two.stderr()).not.toContain(encodeURIComponent(superuserPassword));
});

it('an unreachable database server is reported in one line', async () => {
  const server = spawnProgram({
    env: {
      PLANTSTORE_PORT: '0',
      PLANTSTORE_DATABASE: 'postgres://ada:s3cr3t@127.0.0.1:1/plants',
    },
  });
  expect(await server.exited).toBe(1);
  expect(server.stdout()).toBe('');
  expect(server.stderr()).toMatch(
    /^plantstore-server: cannot open the database \(--database, PLANTSTORE_DATABASE\): .*127\.0\.0\.1:1.*\n$/,
  );
  expect(server.stderr()).not.toContain('s3cr3t');
});
