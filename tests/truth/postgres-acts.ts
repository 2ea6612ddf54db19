import { setTimeout as sleep } from 'node:timers/promises';
import { acts } from './acts.ts';
import type { Act } from './plan.ts';
import type { ProxyMode } from './proxy.ts';
import type { PostgresStore } from './stores.ts';
import type { World } from './world.ts';

type PostgresWorld = World<PostgresStore>;

/** Acts on a server of a PostgreSQL database, the database, and the network before it. */
export const postgresActs: Readonly<Record<string, Act<PostgresStore>>> = {
  ...acts,
  'restart the database': {
    weight: 5,
    causes: ['down', 'ended'],
    choices: { signal: ['SIGINT', 'SIGQUIT', 'SIGQUIT'], downMs: [0, 500, 2_500] },
    async run({ store: { server } }, { signal, downMs }) {
      await server.stop(signal as 'SIGINT' | 'SIGQUIT');
      await sleep(Number(downMs));
      await server.start();
    },
  },
  'end the sessions': {
    weight: 3,
    causes: ['ended', 'down'],
    choices: { how: ['terminate', 'cancel'], times: [1, 20] },
    async run(world, { how, times }) {
      for (let time = 0; time < Number(times); time += 1) {
        await endSessions(world, String(how));
        await sleep(40);
      }
    },
  },
  'lock the table': {
    weight: 4,
    causes: ['lock'],
    choices: { mode: ['ACCESS EXCLUSIVE', 'SHARE', 'ROW EXCLUSIVE'] },
    run: async ({ store }, { mode }) =>
      store.hold(`LOCK TABLE public.plants IN ${mode} MODE`, 'COMMIT'),
  },
  'lock an id': {
    weight: 4,
    causes: ['lock'],
    choices: { id: [1, 2, 3, 4, 5, 6], end: ['COMMIT', 'ROLLBACK'] },
    async run(world, { id, end }) {
      const text = JSON.stringify(['another program', null]);
      if (end === 'COMMIT') world.write(String(id), text);
      const values = `(${id}, 'another program')`;
      const insert = `INSERT INTO public.plants (id, name) VALUES ${values} ON CONFLICT DO NOTHING`;
      return world.store.hold(insert, String(end));
    },
  },
  'commit without a sync, and crash': {
    causes: ['down', 'ended'],
    async run(world) {
      const { sql, role, server } = world.store;
      await sql(`ALTER DATABASE ${role} SET synchronous_commit = off`);
      await endSessions(world, 'terminate');
      await sleep(500);
      await server.stop('SIGQUIT');
      await server.start();
    },
  },
  'put a network before the database': {
    weight: 8,
    causes: ['proxy', 'slow'],
    choices: { mode: ['refuse', 'discard', 'discard-responses', 'delay', 'cut'], ends: [0, 1] },
    async run({ store: { proxy } }, { mode, ends }) {
      proxy.setMode(mode as ProxyMode);
      if (ends === 1) proxy.end();
      return async () => {
        proxy.setMode('pass');
        if (mode !== 'delay') proxy.end();
      };
    },
  },
  'end one side of each connection': {
    causes: ['proxy'],
    choices: { side: ['client', 'server'] },
    run: async ({ store: { proxy } }, { side }) => proxy.end(side as 'client' | 'server'),
  },
  'put a pooler that opens transactions before the database': {
    weight: 1,
    causes: ['pooler', 'proxy', 'lock'],
    async run({ store: { proxy } }) {
      proxy.setMode('begin');
      proxy.end();
      return async () => {
        proxy.setMode('pass');
        proxy.end();
      };
    },
  },
  'change another default schema': {
    weight: 1,
    causes: ['schema', 'ended', 'alter'],
    async run(world) {
      const { sql, role } = world.store;
      await sql(`CREATE SCHEMA IF NOT EXISTS other AUTHORIZATION ${role}`);
      await sql(`ALTER DATABASE ${role} SET search_path = other`);
      await endSessions(world, 'terminate');
      await world.stop();
      await world.start();
      return async () => {
        await sql(`ALTER DATABASE ${role} RESET search_path`);
        await endSessions(world, 'terminate');
      };
    },
  },
  'take the standby away': change(
    'standby slow lock',
    "ALTER SYSTEM SET synchronous_standby_names = 'nobody'",
    'ALTER SYSTEM RESET synchronous_standby_names',
  ),
  'make the database read-only': change(
    'read-only',
    'ALTER SYSTEM SET default_transaction_read_only = on',
    'ALTER SYSTEM RESET default_transaction_read_only',
  ),
  'restart the database as read-only': {
    causes: ['read-only'],
    async run({ store: { sql, server, role } }) {
      await sql(`ALTER DATABASE ${role} SET default_transaction_read_only = on`);
      await server.stop();
      await server.start();
      return async () => {
        await sql(`ALTER DATABASE ${role} RESET default_transaction_read_only`);
        await sql(ending('terminate', role));
      };
    },
  },
  'limit the connections of the role': change(
    'limit',
    'ALTER ROLE ROLE CONNECTION LIMIT 1',
    'ALTER ROLE ROLE CONNECTION LIMIT -1',
  ),
  'refuse logins': change('login', 'ALTER ROLE ROLE NOLOGIN', 'ALTER ROLE ROLE LOGIN'),
  'refuse connections to the database': change(
    'login',
    'ALTER DATABASE ROLE ALLOW_CONNECTIONS false',
    'ALTER DATABASE ROLE ALLOW_CONNECTIONS true',
    { isFromOutside: true },
  ),
  'change the password': change(
    'login',
    "ALTER ROLE ROLE PASSWORD 'other'",
    "ALTER ROLE ROLE PASSWORD 'truth'",
  ),
  'revoke privileges': change(
    'privileges',
    'REVOKE INSERT, SELECT ON public.plants FROM ROLE',
    'GRANT INSERT, SELECT ON public.plants TO ROLE',
  ),
  'limit the time of a statement': change(
    'slow',
    'ALTER ROLE ROLE SET statement_timeout = 5',
    'ALTER ROLE ROLE RESET statement_timeout',
  ),
  ...Object.fromEntries(
    Object.entries({
      'add a column': ['ADD COLUMN note text NOT NULL', 'DROP COLUMN IF EXISTS note'],
      'add a column with a default': [
        "ADD COLUMN kind text NOT NULL DEFAULT 'x'",
        'DROP COLUMN IF EXISTS kind',
      ],
      'rename a column': ['RENAME COLUMN tag TO label', 'RENAME COLUMN label TO tag'],
      'change a type': ['ALTER COLUMN tag TYPE varchar(50)', 'ALTER COLUMN tag TYPE text'],
      'drop the key': [
        'DROP CONSTRAINT plants_pkey',
        'ADD CONSTRAINT plants_pkey PRIMARY KEY (id)',
      ],
      'add a constraint': [
        "ADD CONSTRAINT short CHECK (name NOT LIKE 'x%') NOT VALID",
        'DROP CONSTRAINT IF EXISTS short',
      ],
      'force row security': [
        'ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
        'NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY',
      ],
    }).map(([name, [from, back]]) => [
      name,
      change(
        'alter lock privileges',
        `ALTER TABLE public.plants ${from}`,
        `ALTER TABLE public.plants ${back}`,
      ),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries({
      'refuse plants in a trigger': "IF random() < 0.3 THEN RAISE EXCEPTION 'no'; END IF;",
      'leave plants out in a trigger': 'IF random() < 0.3 THEN RETURN NULL; END IF;',
      'wait in a trigger': 'PERFORM pg_sleep(0.3);',
      'fail in a trigger': 'PERFORM * FROM missing;',
      'rewrite plants in a trigger': "IF random() < 0.3 THEN NEW.name := 'rewritten'; END IF;",
    }).map(([name, body]) => [name, trigger(body, 'BEFORE INSERT ON public.plants')]),
  ),
  'refuse plants in a deferred trigger': trigger(
    "IF random() < 0.3 THEN RAISE EXCEPTION 'late'; END IF;",
    'AFTER INSERT ON public.plants DEFERRABLE INITIALLY DEFERRED',
    'CONSTRAINT',
  ),
  'export a table that is restored meanwhile': {
    weight: 1,
    causes: ['command', 'alter', 'lock'],
    async run(world) {
      const { sql } = world.store;
      const rows = "SELECT g, repeat('w', 90) FROM generate_series(-20000, -10000) g";
      for (let id = -20_000; id <= -10_000; id += 1)
        for (const name of ['w'.repeat(90), 'restored'])
          world.write(String(id), JSON.stringify([name, null]));
      await sql(`INSERT INTO public.plants (id, name) ${rows} ON CONFLICT DO NOTHING`);
      const restored =
        "CREATE TABLE r (LIKE public.plants INCLUDING ALL); INSERT INTO r SELECT id, CASE WHEN name LIKE 'www%' THEN 'restored' ELSE name END, tag FROM public.plants";
      const before = world.readings.length;
      await world.export({
        readAfterMs: 700,
        meanwhile: async () =>
          void (await sql(
            `BEGIN; LOCK TABLE public.plants; ${restored}; DROP TABLE public.plants; ALTER TABLE r RENAME TO plants; GRANT SELECT, INSERT ON public.plants TO ${world.store.role}; COMMIT`,
          )),
      });
      const texts = [...(world.readings[before]?.disk.rows ?? [])]
        .filter(([id]) => Number(id) <= -10_000 && Number(id) >= -20_000)
        .map(([, text]) => text);
      world.compare('an export has read one table', new Set(texts).size < 2, 'rows of two tables');
    },
  },
};

/** Statements for a time, and others at its end, with ROLE for the role and the database. */
function change(
  causes: string,
  from: string,
  back: string,
  { isFromOutside = false } = {},
): Act<PostgresStore> {
  return {
    causes: [...causes.split(' '), 'ended'],
    choices: { ends: [0, 1] },
    async run(world, { ends }) {
      const { role } = world.store;
      const sql = isFromOutside ? world.store.sqlFromOutside : world.store.sql;
      const apply = async (statements: string) => {
        const text = statements
          .replaceAll('ROLE ROLE', `ROLE ${role}`)
          .replaceAll(/ROLE$|(?<=DATABASE )ROLE/g, role);
        const error = await sql(text);
        await sql('SELECT pg_reload_conf()');
        return error;
      };
      const error = await apply(from);
      if (ends === 1) await endSessions(world, 'terminate');
      return async () => {
        // One that failed may have been applied: the server can stop before its response.
        for (let attempt = 0; attempt < (error === undefined ? 60 : 5); attempt += 1) {
          if ((await apply(back)) === undefined) break;
          await sleep(300);
        }
        await endSessions(world, 'terminate');
      };
    },
  };
}

/** A trigger for a time. */
function trigger(body: string, when: string, kind = ''): Act<PostgresStore> {
  const create = `CREATE OR REPLACE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NEW; END $$`;
  const act = change(
    'alter lock slow trigger',
    `${create}; CREATE ${kind} TRIGGER t ${when} FOR EACH ROW EXECUTE FUNCTION public.f()`,
    'DROP TRIGGER IF EXISTS t ON public.plants; DROP FUNCTION IF EXISTS public.f()',
  );
  return {
    ...act,
    run: async (world, step) => {
      world.rewrites ||= body.includes('rewritten');
      return act.run(world, step);
    },
  };
}

const ending = (how: string, role: string) =>
  `SELECT pg_${how}_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`;

async function endSessions({ store: { sql, role } }: PostgresWorld, how: string): Promise<void> {
  await sql(ending(how, role));
}
