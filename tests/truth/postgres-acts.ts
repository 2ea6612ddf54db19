import { setTimeout as sleep } from 'node:timers/promises';
import { connectSql } from '@plantstore/test-support/sql-client';
import { acts } from './acts.ts';
import { actOn, type Acts } from './plan.ts';
import type { PostgresStore } from './postgres-store.ts';
import { textOf } from './store.ts';

const act = actOn<PostgresStore>();

/** Statements on the database and the role `?`: causes, what begins a change, and what ends it. */
const changes: Readonly<Record<string, readonly [causes: string, begin: string, end: string]>> = {
  'take the standby away': [
    'standby',
    "ALTER SYSTEM SET synchronous_standby_names = 'nobody'",
    'ALTER SYSTEM RESET synchronous_standby_names',
  ],
  'make the database read-only': [
    'read-only',
    'ALTER SYSTEM SET default_transaction_read_only = on',
    'ALTER SYSTEM RESET default_transaction_read_only',
  ],
  'look for the table in another schema': [
    'table',
    'CREATE SCHEMA IF NOT EXISTS o AUTHORIZATION ?; ALTER DATABASE ? SET search_path = o',
    'ALTER DATABASE ? RESET search_path',
  ],
  'refuse logins': ['role', 'ALTER ROLE ? NOLOGIN', 'ALTER ROLE ? LOGIN'],
  'revoke privileges': [
    'role',
    'REVOKE INSERT, SELECT ON public.plants FROM ?',
    'GRANT INSERT, SELECT ON public.plants TO ?',
  ],
  'add a column': alter('ADD note text NOT NULL', 'DROP COLUMN IF EXISTS note'),
  'drop the key': alter('DROP CONSTRAINT plants_pkey', 'ADD PRIMARY KEY (id)'),
  'force row security': alter(
    'ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
    'NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY',
  ),
  'refuse plants in a trigger': trigger("IF random() < 0.3 THEN RAISE EXCEPTION 'no'; END IF;"),
  'leave plants out in a trigger': trigger('IF random() < 0.3 THEN RETURN NULL; END IF;'),
  'wait in a trigger': trigger('PERFORM pg_sleep(0.3);'),
  'refuse plants at the commit': trigger(
    "IF random() < 0.3 THEN RAISE EXCEPTION 'late'; END IF;",
    'CONSTRAINT TRIGGER t AFTER INSERT ON public.plants DEFERRABLE INITIALLY DEFERRED',
  ),
};

/** Acts on a server of a PostgreSQL database, the database, and the network before it. */
export const postgresActs: Acts<PostgresStore> = {
  ...acts,
  ...Object.fromEntries(
    Object.entries(changes).map(([name, [causes, begin, end]]) => [
      name,
      act(2, `${causes} sessions`, { ends: [0, 1] }, async ({ store }, { ends }) =>
        change(store, begin, end, ends),
      ),
    ]),
  ),
  'restart the database': act(
    6,
    'down sessions',
    { signal: ['SIGINT', 'SIGQUIT', 'SIGQUIT'], downMs: [0, 500, 2_500] },
    async ({ store: { server } }, { signal, downMs }) => {
      await server.stop(signal);
      await sleep(downMs);
      await server.start();
    },
  ),
  'crash after commits without a sync': act(2, 'down sessions', {}, async ({ store }) => {
    await store.sql(`ALTER DATABASE ${store.role} SET synchronous_commit = off`);
    await store.endSessions();
    await sleep(500);
    await store.server.stop('SIGQUIT');
    await store.server.start();
  }),
  'end the sessions': act(2, 'sessions', { times: [1, 20] }, async ({ store }, { times }) => {
    for (let time = 0; time < times; time += 1) {
      await store.endSessions();
      await sleep(40);
    }
  }),
  'lock the table': act(
    2,
    'lock',
    { mode: ['ACCESS EXCLUSIVE', 'SHARE'] },
    async ({ store }, { mode }) => hold(store, `LOCK public.plants IN ${mode} MODE`, 'COMMIT'),
  ),
  'lock an id': act(
    4,
    'lock',
    { id: [1, 2, 3, 4], end: ['COMMIT', 'ROLLBACK'] },
    async ({ store, written }, { id, end }) => {
      if (end === 'COMMIT') written.add(id + textOf('another'));
      const row = `VALUES (${id}, 'another') ON CONFLICT DO NOTHING`;
      return hold(store, `INSERT INTO public.plants ${row}`, end);
    },
  ),
  'disturb the network': act(
    8,
    'network',
    { mode: ['refuse', 'discard', 'discard responses', 'delay', 'cut'], ends: [0, 1] },
    async ({ store: { proxy } }, { mode, ends }) => {
      proxy.setMode(mode);
      if (ends === 1) proxy.end();
      return async () => {
        proxy.setMode('pass');
        if (mode !== 'delay') proxy.end();
      };
    },
  ),
  'end one side of each connection': act(
    2,
    'network',
    { side: ['client', 'server'] },
    async ({ store: { proxy } }, { side }) => proxy.end(side),
  ),
};

function alter(begin: string, end: string): readonly [string, string, string] {
  return ['table lock', `ALTER TABLE public.plants ${begin}`, `ALTER TABLE public.plants ${end}`];
}

function trigger(
  body: string,
  when = 'TRIGGER t BEFORE INSERT ON public.plants',
): readonly [string, string, string] {
  const head = 'CREATE OR REPLACE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql';
  return [
    'table lock slow',
    `${head} AS $$ BEGIN ${body} RETURN NEW; END $$;
      CREATE ${when} FOR EACH ROW EXECUTE FUNCTION public.f()`,
    'DROP TRIGGER IF EXISTS t ON public.plants; DROP FUNCTION IF EXISTS public.f()',
  ];
}

/** Runs statements, maybe for new sessions only, and later those that end the change. */
async function change(store: PostgresStore, begin: string, end: string, endsSessions: 0 | 1) {
  const { sql, role, endSessions } = store;
  const apply = async (statements: string) => {
    const error = await sql(statements.replaceAll('?', role));
    await sql('SELECT pg_reload_conf()');
    return error;
  };
  const failed = await apply(begin);
  if (endsSessions === 1) await endSessions();
  return async () => {
    // One that failed may have been applied: the server can stop before its response.
    for (let attempt = 0; attempt < (failed === undefined ? 60 : 5); attempt += 1) {
      if ((await apply(end)) === undefined) break;
      await sleep(300);
    }
    await endSessions();
  };
}

/** Runs a statement in a transaction, and later ends that. */
async function hold({ url }: PostgresStore, statement: string, end: string) {
  const client = await connectSql(url);
  await client.query(`BEGIN; ${statement}`).catch(() => {});
  return async () => {
    await client.query(end).catch(() => {});
    await client.end().catch(() => {});
  };
}
