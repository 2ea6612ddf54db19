import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { changeOwner, startPostgres } from '@plantstore/test-support/postgres-server';
import { mountSmallDisk } from '@plantstore/test-support/small-disk';
import { type StatementAction, startProxy } from '../../packages/postgres/test/postgres-proxy.ts';
import { runSql } from '../../packages/postgres/test/shared-postgres.ts';
import { acts, readActs } from './acts.ts';
import { commonReasons, damaged, diskOf, mayFill, type Store } from './store.ts';

/** Acts on a server of a PostgreSQL database, the database, and the network before it. */
export const postgresActs = [
  ...acts,
  ...readActs(`
2 | take the standby away | standby sessions | sql
  | ALTER SYSTEM SET synchronous_standby_names = 'nobody'; $RELOAD
  | ALTER SYSTEM RESET synchronous_standby_names; $RELOAD
2 | make the database read-only | read-only sessions | sql
  | ALTER SYSTEM SET default_transaction_read_only = on; $RELOAD
  | ALTER SYSTEM RESET default_transaction_read_only; $RELOAD
2 | look for the table in another schema | table sessions | sql
  | CREATE SCHEMA IF NOT EXISTS o; ALTER ROLE ? SET search_path = o; $END
  | ALTER ROLE ? RESET search_path; $END
2 | refuse logins | role sessions | sql | ALTER ROLE ? NOLOGIN; $END | ALTER ROLE ? LOGIN
2 | revoke privileges | role sessions | sql
  | REVOKE INSERT, SELECT ON public.plants FROM ? | GRANT INSERT, SELECT ON public.plants TO ?
2 | add a column | table lock sessions | sql
  | ALTER TABLE public.plants ADD note text NOT NULL DEFAULT ''
  ; ALTER TABLE public.plants ALTER note DROP DEFAULT
  | ALTER TABLE public.plants DROP COLUMN IF EXISTS note
2 | drop the key | table lock sessions | sql
  | ALTER TABLE public.plants DROP CONSTRAINT plants_pkey
  | ALTER TABLE public.plants ADD PRIMARY KEY (id)
2 | force row security | table lock sessions | sql
  | ALTER TABLE public.plants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY
  | ALTER TABLE public.plants NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY
8 | [refuse,leave out,rewrite,wait for] plants in a trigger | table lock slow sessions | sql
  | CREATE TRIGGER t BEFORE INSERT ON public.plants FOR EACH ROW EXECUTE FUNCTION o.f('$1')
  | DROP TRIGGER IF EXISTS t ON public.plants
2 | refuse plants at the commit | table lock slow sessions | sql
  | CREATE CONSTRAINT TRIGGER t AFTER INSERT ON public.plants DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION o.f('refuse')
  | DROP TRIGGER IF EXISTS t ON public.plants
2 | lock the table in [ACCESS EXCLUSIVE,SHARE] mode for [0.3,1,2.5] | lock | sql
  | BEGIN; LOCK public.plants IN $1 MODE; SELECT pg_sleep($2); COMMIT
4 | lock the id [0,1,2,3] for [0.3,1,2.5] and [COMMIT,ROLLBACK] | lock | sql
  | BEGIN; INSERT INTO public.plants VALUES ($1, 'another') ON CONFLICT DO NOTHING
  ; SELECT pg_sleep($2); $3
6 | restart the database after [SIGINT,SIGQUIT,SIGQUIT] | alone down sessions | restart | $1
2 | crash after commits without a sync | down sessions | crash
2 | end the sessions | sessions | sql | $END | $END
3 | fill the disk | disk | sh | dd if=/dev/zero of=$FOLDER/filler bs=8k 2> $ROOT/dd; :
  | rm -f $FOLDER/filler
12 | [reset-before,reset-after,begin-before,discard,freeze,refuse,half-close] in a proxy
  | network sessions | disturb | $1
`),
];

/** Returns statements, in which ? is the role; others find what has changed in a new session. */
function statementsOf(texts: string, role: string): readonly string[] {
  const sessions = "FROM pg_stat_activity WHERE usename = '?'";
  const end = `SELECT pg_sleep(0.1), pg_terminate_backend(pid) ${sessions}`;
  const all = texts.replaceAll('$RELOAD', 'SELECT pg_reload_conf(); $END').replaceAll('$END', end);
  return all.replaceAll('?', role).split('; ');
}

/** Settings of a server with few connections, whose commits are fast. */
const settings = 'max_connections = 25\nfsync = off\nwal_writer_delay = 10s\nshared_buffers = 16MB';

/** The table that a role may only use, and what triggers do with some plants. */
const table = 'public.plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)';
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

/** Starts a server. Each run has a database and a role of its own on it. */
export async function startPostgresStores() {
  const server = await startPostgres(settings);
  const FOLDER = join(server.folder, 'disk');
  mkdirSync(FOLDER);
  const unmount = mayFill ? await mountSmallDisk(FOLDER) : undefined;
  await changeOwner(FOLDER);
  await runSql(server.url(), `CREATE TABLESPACE small LOCATION '${FOLDER}'`);
  let count = 0;
  return { create, dispose };

  /** Starts the server, once its disk has space for its recovery. */
  async function startServer(left = 200): Promise<void> {
    await server.start().catch(async (thrown: unknown) => {
      if (left === 0) throw thrown;
      await sleep(300);
      await startServer(left - 1);
    });
  }

  async function dispose(): Promise<void> {
    await unmount?.();
    await server.dispose();
  }

  /** The role owns the database and creates the table, or may only use it. */
  async function create(seed: number): Promise<Store> {
    const role = `truth_${process.pid}_${(count += 1)}`;
    // The operator also succeeds while the database is read-only or without its standby.
    const options = '-c default_transaction_read_only=off -c synchronous_commit=local';
    const url = `${server.url(role)}?options=${encodeURIComponent(options)}`;
    await runSql(server.url(), `CREATE ROLE ${role} LOGIN PASSWORD 'truth'`);
    const owner = seed % 2 === 0 ? `OWNER ${role}` : '';
    await runSql(server.url(), `CREATE DATABASE ${role} ${owner} TABLESPACE small`);
    const granted = `CREATE TABLE ${table}; GRANT SELECT, INSERT ON public.plants TO ${role}`;
    await runSql(url, `${triggers} ${owner === '' ? granted : ''}`);
    const cleanups: (() => Promise<void>)[] = [];
    const proxy = await startProxy(server.port, (cleanup) => cleanups.push(cleanup));
    const run = async (statements: string) =>
      runSql(url, ...statementsOf(statements, role)).then(
        () => true,
        () => false,
      );
    return {
      database: `${proxy.through(`postgres://${role}:truth@127.0.0.1:1/${role}`)}?sslmode=disable`,
      env: {},
      variables: { FOLDER },
      read: async () =>
        runSql(url, 'SELECT id::text, name, tag FROM public.plants').then(diskOf, damaged),
      ways: {
        /** Statements, and others that end them; or a transaction. */
        async sql(_, { begin, end }) {
          const begun = run(begin);
          if (end === '') return async () => begun;
          // One that failed may have been applied: the server can stop before its response.
          let left = (await begun) ? 60 : 5;
          return async () => {
            while (!(await run(end)) && (left -= 1) > 0) await sleep(300);
          };
        },
        async restart(_, { begin: signal }) {
          await server.stop(signal as 'SIGINT');
          return async () => startServer();
        },
        async crash() {
          await run('ALTER DATABASE ? SET synchronous_commit = off; $END');
          await sleep(500);
          await server.stop('SIGQUIT');
          await startServer();
        },
        async disturb(_, { begin: how }) {
          if (how === 'freeze') proxy.freeze(true);
          else if (how === 'half-close') proxy.endAll();
          else if (how === 'refuse') proxy.refuse(true);
          else proxy.onStatement(() => how as StatementAction);
          return async () => {
            proxy.freeze(false);
            proxy.refuse(false);
            proxy.onStatement(() => 'pass');
            proxy.resetAll();
          };
        },
      },
      reasons,
      async dispose() {
        for (const cleanup of cleanups) await cleanup();
        // They only make room: a server that an act has left stopped must not end all runs.
        await runSql(server.url(), `DROP DATABASE ${role} WITH (FORCE)`).catch(() => {});
        await runSql(server.url(), `DROP ROLE ${role}`).catch(() => {});
      },
    };
  }
}

const reasons: Store['reasons'] = [
  ...commonReasons,
  [/no database server can be reached|ECONNREFUSED/, 'down network'],
  [/limit of connections|too many (clients|connections)/, 'role'],
  [/correct the password|does not permit this login/, 'role'],
  [/another session has locked/, 'lock slow network standby table'],
  [/lacks a privilege|may not create or alter|permission denied/, 'role table'],
  [/accepts (no )?writes|read-only transaction/, 'read-only'],
  [/No space left|53100/, 'disk'],
  [/a pooler has opened/, 'network'],
  [
    /Connection terminated|ECONNRESET|no response|does not respond/,
    'down network sessions lock standby slow table',
  ],
  [/has another plants|finds no table|leads to no table|violates|trigger|row security/, 'table'],
];
