import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Cleanup } from '@plantstore/test-support/make-folder';
import { changeOwner, startPostgres } from '@plantstore/test-support/postgres-server';
import { mountSmallDisk } from '@plantstore/test-support/small-disk';
import { type StatementAction, startProxy } from '../../packages/postgres/test/postgres-proxy.ts';
import { runSql } from '../../packages/postgres/test/shared-postgres.ts';
import { acts, performWith, readActs } from './acts.ts';
import { damaged, diskOf, isTrueSoon, mayFill, type Store } from './store.ts';

/** Acts on a server of a PostgreSQL database, the database, and the network before it. */
export const postgresActs = [
  ...acts,
  ...readActs(`
fill the disk | disk chance | sh
  | mountpoint -q $FOLDER && dd if=/dev/zero of=$FOLDER/filler bs=8k 2> $ROOT/dd; :
  | rm -f $FOLDER/filler
take the standby away | standby sessions | sql
  | ALTER SYSTEM SET synchronous_standby_names = 'nobody'; $RELOAD
  | ALTER SYSTEM RESET synchronous_standby_names; $RELOAD
make the database read-only | read-only sessions | sql
  | ALTER SYSTEM SET default_transaction_read_only = on; $RELOAD
  | ALTER SYSTEM RESET default_transaction_read_only; $RELOAD
commit without a sync | sessions | sql | ALTER DATABASE plants SET synchronous_commit = off; $END
  | ALTER DATABASE plants RESET synchronous_commit; $END
refuse logins | role sessions | sql | ALTER ROLE ada NOLOGIN; $END | ALTER ROLE ada LOGIN
revoke privileges | role sessions | sql | REVOKE INSERT, SELECT ON plants FROM ada
  | GRANT INSERT, SELECT ON plants TO ada
add a column | table lock sessions | sql | ALTER TABLE plants ADD IF NOT EXISTS note text NOT NULL
    DEFAULT ''; ALTER TABLE plants ALTER note DROP DEFAULT
  | ALTER TABLE plants DROP COLUMN IF EXISTS note
[refuse,leave out,rewrite,wait for] plants in a trigger | table lock slow sessions | sql
  | CREATE OR REPLACE TRIGGER t BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION o.f('$1')
  | DROP TRIGGER IF EXISTS t ON plants
refuse plants at the commit | table lock slow sessions | sql
  | CREATE CONSTRAINT TRIGGER t AFTER INSERT ON plants DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION o.f('refuse')
  | DROP TRIGGER IF EXISTS t ON plants
lock the table in [ACCESS EXCLUSIVE,SHARE] mode for [0.3,1,2.5] | lock | sql
  | BEGIN; LOCK plants IN $1 MODE; SELECT pg_sleep($2); COMMIT
lock the id [0,1,2,3] for [0.3,1,2.5] and [COMMIT,ROLLBACK] | lock | sql
  | BEGIN; INSERT INTO plants VALUES ($1, 'another') ON CONFLICT DO NOTHING
  ; SELECT pg_sleep($2); $3
restart the database after [SIGINT,SIGQUIT] | alone down sessions | restart | $1 | start
end the sessions | sessions | sql | $END
[reset-before,reset-after,half-response,half-close,begin-before,discard] in a proxy
  | network sessions | proxy | $1 | pass
delay in a proxy | slow sessions | proxy | delay | pass
`),
];

/** Returns statements. $END ends the sessions of the program: new ones use what has changed. */
function statementsOf(texts: string): readonly string[] {
  const end = `SELECT pg_sleep(0.1), pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE usename = 'ada'`;
  const all = texts.replaceAll('$RELOAD', 'SELECT pg_reload_conf(); $END').replaceAll('$END', end);
  return all.split('; ');
}

/** Settings of a server with few connections, whose commits are fast. */
const settings = 'max_connections = 25\nfsync = off\nwal_writer_delay = 10s\nshared_buffers = 16MB';

/** What triggers do with some plants. */
const triggers = `CREATE SCHEMA o;
  CREATE FUNCTION o.f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF random() > 0.3 THEN RETURN NEW; END IF;
    CASE TG_ARGV[0]
      WHEN 'refuse' THEN RAISE EXCEPTION 'no';
      WHEN 'leave out' THEN RETURN NULL;
      WHEN 'rewrite' THEN NEW.tag := 'rewritten';
      ELSE PERFORM pg_sleep(0.3);
    END CASE;
    RETURN NEW;
  END $$;`;

/** A new table, which the program may only use. */
const table = `DROP TABLE IF EXISTS plants;
  CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text);
  GRANT SELECT, INSERT ON plants TO ada;`;

/** Starts a server with a database on a disk of its own, behind a proxy. */
export async function startPostgresStores() {
  const server = await startPostgres(settings);
  const FOLDER = join(server.folder, 'disk');
  mkdirSync(FOLDER);
  const unmount = mayFill ? await mountSmallDisk(FOLDER) : undefined;
  await changeOwner(FOLDER);
  // The operator also succeeds while the database is read-only or without its standby.
  const options = '-c default_transaction_read_only=off -c synchronous_commit=local';
  const url = `${server.url('plants')}?options=${encodeURIComponent(options)}`;
  const run = async (...statements: string[]) => runSql(url, ...statements);
  const space = `CREATE TABLESPACE small LOCATION '${FOLDER}'`;
  await runSql(server.url(), space, 'CREATE DATABASE plants TABLESPACE small');
  await run("CREATE ROLE ada LOGIN PASSWORD 'ada'", triggers);
  const cleanups: Parameters<Cleanup>[0][] = [async () => unmount?.(), server.dispose];
  const proxy = await startProxy(server.port, (cleanup) => cleanups.unshift(cleanup));
  const store: Store = {
    database: `${proxy.through('postgres://ada:ada@127.0.0.1:1/plants')}?sslmode=disable`,
    env: {},
    variables: { FOLDER },
    read: async () =>
      run('SELECT id::text, name, tag FROM plants').then((rows) => diskOf(rows), damaged),
    ways: {
      // What fails may have been applied: the server can stop before its response.
      sql: performWith(async (texts) => repeat(async () => run(...statementsOf(texts)))),
      // It starts once its disk has space for its recovery.
      restart: performWith(async (how) =>
        how === 'start' ? repeat(async () => server.start()) : server.stop(how as 'SIGINT'),
      ),
      proxy: performWith(async (how) => {
        if (how === 'half-close') proxy.endAll();
        else proxy.onStatement(() => how as StatementAction);
        if (how === 'pass') proxy.resetAll();
      }),
    },
    dispose: async () => {},
  };
  return {
    create: async () => run(table).then(() => store),
    async dispose() {
      for (const cleanup of cleanups) await cleanup();
    },
  };
}

/** Repeats a task until it succeeds. */
async function repeat(task: () => Promise<unknown>): Promise<void> {
  const isDone = await isTrueSoon(async () => task().then(() => true));
  if (!isDone) throw new Error('it never succeeds');
}
