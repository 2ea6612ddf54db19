import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { nameOf, readDatabaseUrl } from './database-url.ts';

const read = (url: string, env = {}) => readDatabaseUrl(url, env)._unsafeUnwrap();
const fault = (url: string, env = {}) => readDatabaseUrl(url, env)._unsafeUnwrapErr().message;
const addresses = (url: string, env = {}) => read(url, env).addresses.map(nameOf);
const file = fileURLToPath(import.meta.url);

it('readDatabaseUrl reads the user, password, host, database and TLS options', () => {
  const url = `postgresql://ada:s%40cret@db.example:6543/garden?sslmode=verify-full&sslrootcert=${file}\n`;
  expect(read(url)).toMatchObject({
    user: 'ada',
    password: 's@cret',
    addresses: [{ host: 'db.example', port: 6543 }],
    database: 'garden',
    tls: { ca: readFileSync(file, 'utf8') },
    isTlsOptional: false,
  });
});

it('readDatabaseUrl reads several hosts, IPv6 addresses in brackets, and the folder of a socket', () => {
  expect(addresses('postgres://ada@a:5432,b,[::1]:1/x')).toEqual(['a:5432', 'b:5432', '[::1]:1']);
  const hosts = { PGHOST: 'a,/run,::1', PGPORT: '7' };
  expect(addresses('postgres:///x', hosts)).toEqual(['a:7', '/run:7', '[::1]:7']);
  for (const url of ['postgres:///x?host=/var/run', 'postgres://%2Fvar%2Frun/x'])
    expect(read(url).addresses).toEqual([{ host: '/var/run', port: 5432 }]);
  expect(addresses('postgres://u@:7/x?host=/run')).toEqual(['/run:7']);
  expect(addresses('postgres://localhost/x?host=/cloudsql/a:b')).toEqual(['/cloudsql/a:b:5432']);
  expect(addresses('postgres:///x?host=::1,h')).toEqual(['[::1]:5432', 'h:5432']);
});

it('readDatabaseUrl reads missing parameters from libpq’s variables, unless they are empty', () => {
  const env = { PGHOST: 'h', PGPORT: '7', PGUSER: 'u', PGPASSWORD: 'p', PGDATABASE: 'd' };
  const others = {
    PGSSLMODE: 'require',
    PGOPTIONS: '-cx=1',
    PGAPPNAME: 'a',
    PGGSSENCMODE: 'prefer',
  };
  const all = { ...env, ...others, PGCONNECT_TIMEOUT: '3' };
  expect(read('postgres://', all)).toMatchObject({
    addresses: [{ host: 'h', port: 7 }],
    user: 'u',
    password: 'p',
    database: 'd',
    options: '-cx=1',
    applicationName: 'a',
    connectTimeoutMs: 3_000,
    tls: { rejectUnauthorized: false },
    isTlsOptional: false,
  });
  expect(read('postgres://ada@x', env)).toMatchObject({ user: 'ada', database: 'd' });
  const defaults = { database: 'ada', isTlsOptional: true, applicationName: 'plantstore' };
  expect(read('postgres://ada@x')).toMatchObject(defaults);
  expect(read('postgres://ada@x').connectTimeoutMs).toBeUndefined();
  const none = Object.fromEntries(Object.keys(all).map((name) => [name, '']));
  expect(read('postgres:///', none)).toEqual(read('postgres:///'));
});

it.each([
  'keepalives=1&keepalives_idle=60&keepalives_interval=10&keepalives_count=3&sslsni=1',
  'krbsrvname=postgres&load_balance_hosts=random&client_encoding=UTF8&replication=false',
  'pool_timeout=10&socket_timeout=5&statement_cache_size=0&uselibpqcompat=true&pgbouncer=true',
  'target_session_attrs=read-write&channel_binding=prefer&sslmode=prefer&gssencmode=disable',
])('readDatabaseUrl ignores parameters that have no effect: %s', (query) => {
  expect(read(`postgres://u:p@h/x?${query}`)).toEqual(read('postgres://u:p@h/x'));
});

it('readDatabaseUrl prefers a parameter to its variable', () => {
  const env = { PGHOST: 'other', PGGSSENCMODE: 'prefer', PGSSLMODE: 'require', PGOPTIONS: '-ca=1' };
  const url = 'postgres://u@/x?host=h&gssencmode=disable&sslmode=disable&options=-cb=1';
  expect(read(url, env)).toEqual(read(url));
});

it('readDatabaseUrl requires channel binding, without a login that is not encrypted', () => {
  const neon = 'postgres://u:p@ep.neon.tech/db?sslmode=require&channel_binding=require';
  for (const url of [neon, 'postgres://h/x?channel_binding=require'])
    expect(read(url)).toMatchObject({ requiresChannelBinding: true, isTlsOptional: false });
});

it('readDatabaseUrl names no parameter that can belong to a password', () => {
  const message = fault('postgres://ada:5432?sslhunter=2');
  expect(message).toContain('a parameter or its value is not supported');
  expect(message).not.toContain('hunter');
});

it('readDatabaseUrl verifies certificates as libpq does', () => {
  const tls = (parameters: string) => read(`postgres://h/x?${parameters}`).tls;
  expect(tls('sslmode=disable')).toBe(false);
  expect(tls('sslmode=verify-full&sslrootcert=system')).toEqual({});
  for (const mode of ['require', 'verify-ca']) {
    const options = tls(`sslmode=${mode}&sslrootcert=${file}`);
    expect(options).toMatchObject({ ca: expect.any(String) as unknown });
    expect(options).toHaveProperty('checkServerIdentity');
    expect(options).not.toHaveProperty('rejectUnauthorized');
  }
});

it.each(['\t', '\n', ' ', 'w%2541', '@b:', '%3A%3F'])(
  'readDatabaseUrl decodes %j in a password once',
  (text) => {
    expect(read(`postgres://ada:a${text}b@db/x?options=a+b%20c`)).toMatchObject({
      password: `a${decodeURIComponent(text)}b`,
      options: 'a+b c',
    });
  },
);

it.each([
  'mysql://localhost/x',
  'postgres://h/x#y',
  'postgres://ada:a#b@h/x',
  'postgres://h:65536/x',
  'postgres://::1/x',
  'postgres://ada:a/b@h/x',
  'postgres://ada:a?b@h/x',
  'postgres://ada:%@h/x',
  'postgres://ada:%00@h/x',
  'postgres://ada:%ff@h/x',
])('readDatabaseUrl refuses %s with the form of a URL', (url) => {
  expect(fault(url)).toMatch(/must have the form postgres:.*% is %25/);
});

it.each<readonly [string, string]>([
  ['sslcert=/nowhere', 'ENOENT'],
  ['sslrootcert=system', 'sslrootcert=system requires sslmode=verify-full'],
  ['sslrootcert=system&sslmode=require', 'sslrootcert=system requires sslmode=verify-full'],
  ['sslmode=verify-ca', 'verify-ca requires specifying a CA with sslrootcert'],
  ...[
    'sslmode=on',
    'sslmode=REQUIRE',
    'SSLMODE=require',
    'sslmod=require',
    'sslcrl=a',
    'schema=garden',
    'port=5433',
    'user=ada',
    'dbname=garden',
    'require_auth=none',
    'connect_timeout=soon',
    'connect_timeout=0',
    'PGSSLMODE=verify-full',
    'PGSSLMODE=verify-full&sslmode=require',
    'pgsslmode=verify-full',
    'PGHOST=db',
    'sslmode=require&sslmode=verify-full',
    'sslmode=&sslmode=verify-full',
    'host=a&host=b',
    'options=-ca=1&options=-cb=1',
    'channel_binding=on',
    'gssencmode=require',
    'target_session_attrs=standby',
  ].map((query) => [query, `${query.split('=')[0]} or its value is not supported`] as const),
])('readDatabaseUrl refuses a parameter that would be less safe without it: %s', (query, words) => {
  expect(fault(`postgres://u:p@h/x?${query}`)).toContain(words);
});

it.each([
  [{ PGSSLMODE: 'allow' }, 'sslmode or'],
  [{ PGCHANNELBINDING: 'on' }, 'channel_binding or'],
  [{ PGCONNECT_TIMEOUT: '10s' }, 'connect_timeout or'],
  [{ PGCONNECT_TIMEOUT: '0' }, 'connect_timeout or'],
  [{ PGSSLROOTCERT: 'system' }, 'requires sslmode=verify-full'],
  [{ PGHOSTADDR: 'x' }, 'PGHOSTADDR or'],
  [{ PGSSLMINPROTOCOLVERSION: 'TLSv1.3' }, 'PGSSLMINPROTOCOLVERSION or'],
  [{ PGSERVICE: 'x' }, 'PGSERVICE or'],
  [{ PGREQUIREAUTH: 'x' }, 'PGREQUIREAUTH or'],
  [{ PGSSLROOTCERT: '/' }, 'EISDIR'],
])('readDatabaseUrl refuses a variable: %j', (env, words) => {
  expect(fault('postgres:///x', env)).toContain(words);
});
