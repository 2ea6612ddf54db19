import { setTimeout as sleep } from 'node:timers/promises';
import { acts } from './acts.ts';
import type { Act, Acts } from './plan.ts';
import type { ProxyMode } from './proxy.ts';
import type { PostgresStore } from './stores.ts';

/** Statements on the database `?` and its role `?`: causes, what begins a change, and what ends it. */
const changes: Readonly<Record<string, readonly [string, string, string]>> = {
  'take the standby away': [
    'standby lock',
    "ALTER SYSTEM SET synchronous_standby_names = 'nobody'",
    'ALTER SYSTEM RESET synchronous_standby_names',
  ],
  'make the database read-only': [
    'read-only',
    'ALTER SYSTEM SET default_transaction_read_only = on',
    'ALTER SYSTEM RESET default_transaction_read_only',
  ],
  'look for the table in another schema': [
    'schema alter',
    'CREATE SCHEMA IF NOT EXISTS o AUTHORIZATION ?; ALTER DATABASE ? SET search_path = o',
    'ALTER DATABASE ? RESET search_path',
  ],
  'limit the connections': [
    'limit',
    'ALTER ROLE ? CONNECTION LIMIT 1',
    'ALTER ROLE ? CONNECTION LIMIT -1',
  ],
  'refuse logins': ['login', 'ALTER ROLE ? NOLOGIN', 'ALTER ROLE ? LOGIN'],
  'change the password': ['login', "ALTER ROLE ? PASSWORD 'x'", "ALTER ROLE ? PASSWORD 'truth'"],
  'revoke privileges': [
    'privileges',
    'REVOKE INSERT, SELECT ON public.plants FROM ?',
    'GRANT INSERT, SELECT ON public.plants TO ?',
  ],
  'limit the time of a statement': [
    'slow',
    'ALTER ROLE ? SET statement_timeout = 5',
    'ALTER ROLE ? RESET statement_timeout',
  ],
  'add a column': table('ADD COLUMN note text NOT NULL', 'DROP COLUMN IF EXISTS note'),
  'rename a column': table('RENAME COLUMN tag TO label', 'RENAME COLUMN label TO tag'),
  'change a type': table('ALTER COLUMN tag TYPE varchar(50)', 'ALTER COLUMN tag TYPE text'),
  'drop the key': table(
    'DROP CONSTRAINT plants_pkey',
    'ADD CONSTRAINT plants_pkey PRIMARY KEY (id)',
  ),
  'add a constraint': table(
    "ADD CHECK (name NOT LIKE 'x%') NOT VALID",
    'DROP CONSTRAINT plants_name_check',
  ),
  'force row security': table(
    'ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
    'NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY',
  ),
  'refuse plants in a trigger': trigger("IF random() < 0.3 THEN RAISE EXCEPTION 'no'; END IF;"),
  'leave plants out in a trigger': trigger('IF random() < 0.3 THEN RETURN NULL; END IF;'),
  'wait in a trigger': trigger('PERFORM pg_sleep(0.3);'),
  'fail in a trigger': trigger('PERFORM * FROM missing;'),
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
      [`${causes} ended`, { ends: [0, 1] }, change(begin, end)] satisfies Act<PostgresStore>,
    ]),
  ),
  'restart the database': [
    'down ended',
    { signal: ['SIGINT', 'SIGQUIT', 'SIGQUIT'], downMs: [0, 500, 2_500] },
    async ({ store: { server } }, { signal, downMs }) => {
      await server.stop(signal as 'SIGINT' | 'SIGQUIT');
      await sleep(Number(downMs));
      await server.start();
    },
    6,
  ],
  'crash after commits without a sync': [
    'down ended',
    {},
    async ({ store }) => {
      await store.sql(`ALTER DATABASE ${store.role} SET synchronous_commit = off`);
      await store.endSessions();
      await sleep(500);
      await store.server.stop('SIGQUIT');
      await store.server.start();
    },
  ],
  'end the sessions': [
    'ended',
    { times: [1, 20] },
    async ({ store }, { times }) => {
      for (let time = 0; time < Number(times); time += 1) {
        await store.endSessions();
        await sleep(40);
      }
    },
  ],
  'lock the table': [
    'lock',
    { mode: ['ACCESS EXCLUSIVE', 'SHARE'] },
    async ({ store }, { mode }) => store.hold(`LOCK TABLE public.plants IN ${mode} MODE`, 'COMMIT'),
  ],
  'lock an id': [
    'lock',
    { id: [1, 2, 3, 4], end: ['COMMIT', 'ROLLBACK'] },
    async (world, { id, end }) => {
      if (end === 'COMMIT') world.write(String(id), '["another program",null]');
      const row = `(id, name) VALUES (${id}, 'another program')`;
      return world.store.hold(
        `INSERT INTO public.plants ${row} ON CONFLICT DO NOTHING`,
        String(end),
      );
    },
    4,
  ],
  'disturb the network': [
    'proxy slow',
    { mode: ['refuse', 'discard', 'discard-responses', 'delay', 'cut'], ends: [0, 1] },
    async ({ store: { proxy } }, { mode, ends }) => {
      proxy.setMode(mode as ProxyMode);
      if (ends === 1) proxy.end();
      return async () => {
        proxy.setMode('pass');
        if (mode !== 'delay') proxy.end();
      };
    },
    8,
  ],
  'end one side of each connection': [
    'proxy',
    { side: ['client', 'server'] },
    async ({ store: { proxy } }, { side }) => proxy.end(side as 'client' | 'server'),
  ],
};

function table(begin: string, end: string): readonly [string, string, string] {
  return [
    'alter lock privileges',
    `ALTER TABLE public.plants ${begin}`,
    `ALTER TABLE public.plants ${end}`,
  ];
}

function trigger(
  body: string,
  when = 'TRIGGER t BEFORE INSERT ON public.plants',
): readonly [string, string, string] {
  const head = 'CREATE OR REPLACE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql';
  const create = `${head} AS $$ BEGIN ${body} RETURN NEW; END $$`;
  return [
    'alter lock slow trigger',
    `${create}; CREATE ${when} FOR EACH ROW EXECUTE FUNCTION public.f()`,
    'DROP TRIGGER IF EXISTS t ON public.plants; DROP FUNCTION IF EXISTS public.f()',
  ];
}

/** Runs statements, maybe for new sessions only, and later those that end the change. */
function change(begin: string, end: string): Act<PostgresStore>[2] {
  return async ({ store: { sql, role, endSessions } }, { ends }) => {
    const apply = async (statements: string) => {
      const error = await sql(statements.replaceAll('?', role));
      await sql('SELECT pg_reload_conf()');
      return error;
    };
    const failed = await apply(begin);
    if (ends === 1) await endSessions();
    return async () => {
      // One that failed may have been applied: the server can stop before its response.
      for (let attempt = 0; attempt < (failed === undefined ? 60 : 5); attempt += 1) {
        if ((await apply(end)) === undefined) break;
        await sleep(300);
      }
      await endSessions();
    };
  };
}
