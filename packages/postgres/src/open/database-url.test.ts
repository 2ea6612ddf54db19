import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { maxTimerMs, nameOf, readDatabaseUrl } from './database-url.ts';

const read = (url: string, env = {}) => readDatabaseUrl(url, env)._unsafeUnwrap();
const fault = (url: string) => readDatabaseUrl(url, {})._unsafeUnwrapErr().message;

describe('readDatabaseUrl', () => {
  it('readDatabaseUrl reads the user, password, host, database and TLS options', () => {
    const file = fileURLToPath(import.meta.url);
    const url = `postgresql://ada:s%40cret@db.example:6543/garden?sslmode=verify-full&sslrootcert=${file}`;
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
    expect(read('postgres://ada@a:5432,b,[::1]:1/x').addresses.map(nameOf)).toEqual([
      'a:5432',
      'b:5432',
      '[::1]:1',
    ]);
    const socket = { host: '/var/run/postgresql', port: 5432 };
    expect(read('postgres:///x?host=/var/run/postgresql').addresses).toEqual([socket]);
    expect(read('postgres://%2Fvar%2Frun%2Fpostgresql/x').addresses).toEqual([socket]);
  });

  it('readDatabaseUrl reads missing parameters from libpq’s variables', () => {
    const env = { PGHOST: 'h', PGPORT: '7', PGUSER: 'u', PGPASSWORD: 'p', PGDATABASE: 'd' };
    expect(read('postgres://', { ...env, PGSSLMODE: 'require' })).toMatchObject({
      addresses: [{ host: 'h', port: 7 }],
      user: 'u',
      password: 'p',
      database: 'd',
      tls: { rejectUnauthorized: false },
      isTlsOptional: false,
    });
    expect(read('postgres://ada@x', env)).toMatchObject({ user: 'ada', database: 'd' });
    expect(read('postgres://ada@x')).toMatchObject({
      database: 'ada',
      tls: { rejectUnauthorized: false },
      isTlsOptional: true,
    });
  });

  it('readDatabaseUrl ignores empty variables', () => {
    const env = {
      PGHOST: '',
      PGPORT: '',
      PGUSER: '',
      PGPASSWORD: '',
      PGDATABASE: '',
      PGSSLMODE: '',
    };
    expect(read('postgres:///', env)).toEqual(read('postgres:///'));
  });

  it('readDatabaseUrl prefers the host parameter, as libpq does, and accepts IPv6 addresses with and without brackets', () => {
    const addresses = (url: string, env = {}) => read(url, env).addresses.map(nameOf);
    expect(addresses('postgres://u@localhost/x?host=/cloudsql/a:b')).toEqual([
      '/cloudsql/a:b:5432',
    ]);
    expect(addresses('postgres://u@:7/x?host=/run')).toEqual(['/run:7']);
    expect(addresses('postgres:///x?host=::1,h:7')).toEqual(['[::1]:5432', 'h:7']);
    expect(addresses('postgres:///x', { PGHOST: '::1' })).toEqual(['[::1]:5432']);
  });

  it('readDatabaseUrl reads the URLs of hosting providers', () => {
    expect(
      read('postgres://u:p@ep.neon.tech/db?sslmode=require&channel_binding=require'),
    ).toMatchObject({ isTlsOptional: false, requiresChannelBinding: true });
    expect(
      read('postgres://u:p@h:6543/db?pgbouncer=true&connection_limit=1&connect_timeout=10'),
    ).toMatchObject({ connectTimeoutMs: 10_000, requiresChannelBinding: false });
    expect(
      read('postgres://u:p@h/db?options=endpoint%3Dep-1&application_name=garden'),
    ).toMatchObject({ options: 'endpoint=ep-1', applicationName: 'garden' });
    expect(read('postgres://h/db?fallback_application_name=a').applicationName).toBe('a');
  });

  it('readDatabaseUrl reads the connect timeout, of which zero or less means no limit', () => {
    expect(read('postgres://h', { PGCONNECT_TIMEOUT: '3' }).connectTimeoutMs).toBe(3_000);
    for (const none of ['0', '-1']) {
      expect(read(`postgres://h?connect_timeout=${none}`).connectTimeoutMs).toBe(maxTimerMs);
    }
    expect(read('postgres://h').connectTimeoutMs).toBe(2_000);
    // Node.js would set a longer timer to 1 ms.
    expect(read('postgres://h?connect_timeout=3000000').connectTimeoutMs).toBe(maxTimerMs);
    expect(read('postgres://h', { PGCHANNELBINDING: 'require' }).requiresChannelBinding).toBe(true);
  });

  it.each([
    'keepalives=1&keepalives_idle=60&keepalives_interval=10&keepalives_count=3',
    'tcp_user_timeout=0&sslcompression=0&sslsni=1&sslnegotiation=postgres&gssencmode=prefer',
    'krbsrvname=postgres&load_balance_hosts=random&client_encoding=UTF8&replication=false',
    'ssl_min_protocol_version=TLSv1.2&max_protocol_version=latest&min_protocol_version=3.0',
    'pool_timeout=10&socket_timeout=5&statement_cache_size=0&uselibpqcompat=true',
    'pool_max_conns=10&prepareThreshold=0&supa=base-pooler.x&workaround=supabase-pooler.vercel',
  ])('readDatabaseUrl ignores parameters that have no effect: %s', (query) => {
    expect(read(`postgres://u:p@h/x?${query}`)).toEqual(read('postgres://u:p@h/x'));
  });

  it('readDatabaseUrl uses the last of several parameters with one name, and accepts fixed values in any case', () => {
    const url = 'postgres://h/x?sslmode=disable&sslmode=REQUIRE&channel_binding=Require';
    expect(read(url)).toMatchObject({
      tls: { rejectUnauthorized: false },
      isTlsOptional: false,
      requiresChannelBinding: true,
    });
  });

  it('readDatabaseUrl ignores a line break at the end', () => {
    expect(read('postgres://ada@h/garden\n')).toMatchObject({ database: 'garden' });
  });

  it('readDatabaseUrl verifies certificates as libpq does', () => {
    const tls = (parameters: string) => read(`postgres://h/x?${parameters}`).tls;
    const file = fileURLToPath(import.meta.url);
    expect(tls('sslmode=disable')).toBe(false);
    expect(tls('sslmode=verify-full&sslrootcert=system')).toEqual({});
    for (const mode of ['require', 'verify-ca']) {
      const options = tls(`sslmode=${mode}&sslrootcert=${file}`);
      expect(options).toMatchObject({ ca: expect.any(String) as unknown });
      expect(options).toHaveProperty('checkServerIdentity');
      expect(options).not.toHaveProperty('rejectUnauthorized');
    }
  });

  it('readDatabaseUrl decodes each part once', () => {
    expect(read('postgres://a%2Fb:p w%2541%3A%3F@h/x%2Fy%3F?options=a+b%20c')).toMatchObject({
      user: 'a/b',
      password: 'p w%41:?',
      database: 'x/y?',
      options: 'a+b c',
    });
  });

  it.each(['\t', '\n', '\r', ' '])('readDatabaseUrl keeps %j in a password', (character) => {
    expect(read(`postgres://ada:a${character}b@db/garden`)).toMatchObject({
      password: `a${character}b`,
      user: 'ada',
    });
  });

  it('readDatabaseUrl accepts an @ and a colon in a password', () => {
    expect(read('postgres://ada:a@b:c@host/x')).toMatchObject({ password: 'a@b:c' });
  });

  it.each([
    ['mysql://localhost/x', /must have the form postgres:/],
    ['postgres://h/x#y', /must have the form/],
    ['postgres://ada:a#b@h/x', /in user and password, .*# as %23/],
    ['postgres://h:0/x', /port from 1 to 65535/],
    ['postgres://h:65536/x', /port from 1 to 65535/],
    ['postgres://::1/x', /port from 1 to 65535/],
    ['postgres://ada:a/b@h/x', /percent-encode/],
    ['postgres://ada:a?b@h/x', /percent-encode/],
    ['postgres://ada:%@h/x', /not a percent-encoding; write it as %25/],
    ['postgres://ada:%00@h/x', /not a percent-encoding/],
    ['postgres://ada:%ff@h/x', /not a percent-encoding/],
    ['postgres://h/x?sslcert=/nowhere', /sslcert .* cannot be read: ENOENT/],
    ['postgres://h/x?sslmode=on', /sslmode in the database URL must be one of disable, prefer/],
    ['postgres://h/x?sslmode=verify-ca', /verify-ca .* needs sslrootcert/],
    ['postgres://h/x?colour=3', /parameter colour that is not supported/],
    ['postgres://u:p@h/x?schema=garden', /parameter schema that is not supported/],
    ['postgres://u:p@h/x?sslcrl=a&colour=3', /parameter sslcrl that is not supported/],
    ['postgres://u:p@h/x?pass%20word=3', /a parameter that is not supported/],
    ['postgres://ada:5432?hunter=2', /a parameter that is not supported/],
    ['postgres://u:p@h/x?connect_timeout=soon', /connect_timeout .* must be a number of seconds/],
    ['postgres://h/x?channel_binding=on', /channel_binding .* one of disable, prefer, require/],
    ['postgres://h/x?channel_binding=require&sslmode=disable', /channel_binding=require .* TLS/],
    [
      'postgres://h/x?gssencmode=require',
      /gssencmode .* must be one of disable, prefer, or be removed/,
    ],
    ['postgres://h/x?client_encoding=LATIN1', /client_encoding .* must be one of auto, utf8/],
    ['postgres://h/x?replication=database', /replication .* must be one of false/],
    ['postgres://h/x?target_session_attrs=standby', /must be one of any, primary, read-write/],
  ])('readDatabaseUrl refuses %s', (url, message) => {
    expect(fault(url)).toMatch(message);
  });

  it.each<[Readonly<Record<string, string>>, RegExp]>([
    [{ PGSSLMODE: 'allow' }, /^PGSSLMODE must be one of disable, prefer/],
    [{ PGCHANNELBINDING: 'on' }, /^PGCHANNELBINDING must be one of/],
    [{ PGCONNECT_TIMEOUT: '10s' }, /^PGCONNECT_TIMEOUT must be a number of seconds/],
    [{ PGSSLMODE: 'verify-ca' }, /^PGSSLMODE=verify-ca needs sslrootcert/],
    [{ PGSSLCERT: '/nowhere' }, /^the file that PGSSLCERT names cannot be read: ENOENT/],
    [{ PGSSLROOTCERT: '/' }, /^the file that PGSSLROOTCERT names cannot be read: EISDIR/],
    [{ PGPORT: 'x' }, /^PGPORT must be a port from 1 to 65535/],
    [{ PGHOST: 'h:x' }, /^PGHOST must be names or addresses/],
    [
      { PGSSLMODE: 'disable', PGCHANNELBINDING: 'require' },
      /^PGCHANNELBINDING=require needs TLS; remove it, or remove PGSSLMODE=disable/,
    ],
    [{ PGTARGETSESSIONATTRS: 'standby' }, /^PGTARGETSESSIONATTRS must be one of any, primary/],
    [{ PGSSLMINPROTOCOLVERSION: 'TLSv1.3' }, /^PGSSLMINPROTOCOLVERSION must be one of/],
    [{ PGGSSENCMODE: 'require' }, /^PGGSSENCMODE must be one of/],
    ...'HOSTADDR REQUIREAUTH REQUIREPEER SERVICE SSLCERTMODE SSLCRL SSLCRLDIR SSLMAXPROTOCOLVERSION'
      .split(' ')
      .map((name): [Readonly<Record<string, string>>, RegExp] => [
        { [`PG${name}`]: 'x' },
        new RegExp(`^PG${name} is not supported; unset it$`),
      ]),
  ])('readDatabaseUrl names the variable of a wrong value: %j', (env, message) => {
    const error = readDatabaseUrl('postgres:///x', env)._unsafeUnwrapErr();
    expect(error.message).toMatch(message);
    expect(error.message).not.toMatch(/database URL/);
  });

  it('readDatabaseUrl ignores variables that have no effect, and names the URL for its own value though a variable is set', () => {
    const env = { PGSSLMINPROTOCOLVERSION: 'TLSv1.2', PGGSSENCMODE: 'disable', PGTZ: 'UTC' };
    expect(read('postgres://h/x', env)).toEqual(read('postgres://h/x'));
    const wrong = readDatabaseUrl('postgres://h/x?sslmode=allow', { PGSSLMODE: 'require' });
    expect(wrong._unsafeUnwrapErr().message).toMatch(/^sslmode in the database URL must be/);
    const both = 'postgres://h/x?channel_binding=require';
    expect(readDatabaseUrl(both, { PGSSLMODE: 'disable' })._unsafeUnwrapErr().message).toMatch(
      /^channel_binding=require in the database URL needs TLS; remove it, or remove PGSSLMODE=disable/,
    );
  });
});
