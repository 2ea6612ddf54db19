import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { flagOf, type Setting, settingNames, settingTable, variableOf } from './setting-table.ts';
import { helpText } from './help.ts';
import { readSettings } from './settings.ts';
import { quoted } from './text.ts';

const settings = (argv: string[], env: Record<string, string> = {}) => {
  const invocation = readSettings(argv, env);
  return invocation.kind === 'run' ? invocation.settings : invocation;
};

/** The settings of an empty command line. */
const defaults = settings([]);

const faults = (argv: string[], env: Record<string, string> = {}) => {
  const invocation = readSettings(argv, env);
  return invocation.kind === 'invalid' ? invocation.faults : [];
};

describe('readSettings', () => {
  it('readSettings uses a default for every setting', () => {
    const expected = settingNames.flatMap((name) => {
      const row: Setting = settingTable[name];
      if (!('default' in row)) return [];
      return [[name, row.parser.parse(String(row.default))._unsafeUnwrap()] as const];
    });
    expect(settings([])).toEqual(Object.fromEntries(expected));
  });

  it('readSettings reads every setting from flags, in both forms', () => {
    const argv = [
      '--port=8080',
      '--reuse-port=on',
      '--database=postgres://one/plants',
      '--log=json',
      '--host',
      '::1',
      '--base-path',
      '/garden/v1/',
      '--tokens-file',
      'tokens.txt',
      '--tls-cert=cert.pem',
      '--tls-key=key.pem',
      '--cors-origins=https://garden.example, http://localhost:8080',
      '--cors-allowed-headers=traceparent',
      '--trusted-proxies=10.0.0.0/8, ::1',
      '--health-port=9000',
      '--metrics=on',
      '--max-body-bytes=64',
      '--max-in-flight=2',
      '--max-connections=3',
      '--headers-timeout-ms=4',
      '--request-timeout-ms=5',
      '--keep-alive-timeout-ms=6',
      '--handler-timeout-ms=7',
      '--shutdown-timeout-ms=8',
    ];
    const read = settings(argv);
    const withFlags = settingNames.filter((name) => flagOf(name) !== undefined);
    expect(Object.keys(read).toSorted()).toEqual(withFlags.toSorted());
    expect(read).toEqual({
      host: '::1',
      port: 8_080,
      reusePort: true,
      basePath: '/garden/v1/',
      database: { kind: 'postgres', url: 'postgres://one/plants' },
      tokensFile: 'tokens.txt',
      tlsCert: 'cert.pem',
      tlsKey: 'key.pem',
      corsOrigins: ['https://garden.example', 'http://localhost:8080'],
      corsAllowedHeaders: ['traceparent'],
      trustedProxies: ['10.0.0.0/8', '::1'],
      healthPort: 9_000,
      metrics: true,
      maxBodyBytes: 64,
      maxInFlight: 2,
      maxConnections: 3,
      headersTimeoutMs: 4,
      requestTimeoutMs: 5,
      keepAliveTimeoutMs: 6,
      handlerTimeoutMs: 7,
      shutdownTimeoutMs: 8,
      log: 'json',
    });
  });

  it('readSettings reads settings from the environment', () => {
    const env = {
      PLANTSTORE_HOST: '0.0.0.0',
      PLANTSTORE_PORT: '8080',
      PLANTSTORE_REUSE_PORT: 'off',
      PLANTSTORE_BASE_PATH: '/garden',
      PLANTSTORE_DATABASE: 'sqlite:/var/lib/plants.db',
      PLANTSTORE_TOKENS: 'one, two==',
      PLANTSTORE_TLS_CERT: 'cert.pem',
      PLANTSTORE_TLS_KEY: 'key.pem',
      PLANTSTORE_CORS_ORIGINS: 'https://garden.example',
      PLANTSTORE_HEALTH_PORT: '0',
      PLANTSTORE_MAX_BODY_BYTES: '1000',
      PLANTSTORE_LOG: 'pretty',
    };
    expect(settings([], env)).toEqual({
      ...defaults,
      host: '0.0.0.0',
      port: 8080,
      basePath: '/garden',
      database: { kind: 'sqlite', path: '/var/lib/plants.db' },
      tokens: { authenticate: expect.any(Function) as unknown, entries: [{}, {}] },
      tlsCert: 'cert.pem',
      tlsKey: 'key.pem',
      corsOrigins: ['https://garden.example'],
      healthPort: 0,
      maxBodyBytes: 1000,
      log: 'pretty',
    });
  });

  it.each(['postgres://ada@one:5432,two/plants?sslmode=verify-full', 'postgresql://one/plants'])(
    'readSettings accepts the database %s',
    (url) => {
      expect(settings(['--database', url])).toEqual({
        ...defaults,
        database: { kind: 'postgres', url },
      });
    },
  );

  it('a flag takes precedence over the environment', () => {
    expect(settings(['--port', '1'], { PLANTSTORE_PORT: 'nonsense' })).toEqual({
      ...defaults,
      port: 1,
    });
    expect(settings(['--tokens-file', 'f'], { PLANTSTORE_TOKENS: 'one' })).toEqual({
      ...defaults,
      tokensFile: 'f',
    });
  });

  it.each([
    '*',
    'null',
    '',
    'https://garden.example/',
    'https://Garden.example',
    'https://garden.example:443',
    'ftp://garden.example',
    'https://garden.example,,',
  ])('readSettings rejects an origin that browsers do not send: %j', (origins) => {
    expect(faults(['--cors-origins', origins])).toEqual([
      expect.stringMatching(/^--cors-origins must (?:be|have|not have) .*, comma-separated, not "/),
    ]);
  });

  it('readSettings requires a certificate and its key together', () => {
    expect(faults(['--tls-cert', 'cert.pem'])).toEqual([
      '--tls-cert alone is not enough: set --tls-cert and --tls-key',
    ]);
    expect(faults([], { PLANTSTORE_TLS_KEY: 'key.pem' })).toEqual([
      'PLANTSTORE_TLS_KEY alone is not enough: set --tls-cert and --tls-key',
    ]);
    expect(faults(['--tls-cert=', '--tls-key=key.pem'])).toEqual([
      '--tls-cert must be the path of a file, not ""',
    ]);
  });

  it('readSettings reports every invalid setting with its source', () => {
    const argv = ['--port', '99999', '--log', 'xml', '--host='];
    const env = { PLANTSTORE_MAX_BODY_BYTES: '1e9', PLANTSTORE_BASE_PATH: 'garden' };
    expect(faults(argv, env).map((fault) => fault.split(' ')[0])).toEqual([
      '--host',
      '--port',
      'PLANTSTORE_BASE_PATH',
      'PLANTSTORE_MAX_BODY_BYTES',
      '--log',
    ]);
  });

  it.each([
    [['--port', '-1']],
    [['--reuse-port']],
    [['--reuse-port', 'yes']],
    [['--port', '3000.0']],
    [['--port', '']],
    [['--port', '--host', 'x']],
    [['--database', 'plants.db']],
    [['--database', 'sqlite:']],
    [['--database', 'sqlite::memory:']],
    [['--database', 'sqlite://plants.db']],
    [['--database', 'mysql://localhost']],
    [['--base-path', '/a?b']],
    [['--base-path', '/%']],
    [['--base-path', '//elsewhere.example']],
    [['--base-path', '/a//']],
    [['--base-path', '/a/../b']],
    [['--base-path', '/a/.']],
    [['--base-path', '/a\\b']],
    [['--base-path', '/a\tb']],
    [['--base-path', `/$\{GARDEN}`]],
    [['--base-path', '/{{ garden }}']],
    [['--max-body-bytes', '0']],
    [['--max-body-bytes', '268435457']],
    [['--port', '65536']],
    [['--handler-timeout-ms', '0']],
    [['--handler-timeout-ms', '86400001']],
    [['--max-in-flight', '1000001']],
    [['--max-connections', '1000001']],
    [['--tokens-file', '']],
    [['--tokens-file', '--log=json']],
    [['-p', '3000']],
    [['--no-log']],
    [['--constructor']],
    [['--prot=1', 'x']],
  ])('readSettings rejects the settings %j', (argv) => {
    expect(faults(argv)).not.toEqual([]);
  });

  it('readSettings rejects an empty token in a list', () => {
    expect(faults([], { PLANTSTORE_TOKENS: 'a,,b' })).not.toEqual([]);
  });

  it('an empty variable is one that is not set, for every setting', () => {
    const env = Object.fromEntries(settingNames.map((name) => [variableOf(name), '']));
    expect(settings([], env)).toEqual(defaults);
  });

  it.each(['\r', '\n', ' ', '\t', '\u00a0', '\u200b', '\ufeff', '\u00ad', '\u2029', '\u{e0041}'])(
    'readSettings rejects %j at the ends of every value, and shows it escaped',
    (unseen) => {
      for (const name of settingNames) {
        const row: Setting = settingTable[name];
        if (row.parser.isList) continue;
        const value = 'default' in row ? String(row.default) : 'json';
        for (const text of [value + unseen, unseen + value]) {
          const [fault = ''] = faults([], { [variableOf(name)]: text });
          expect(fault).toMatch(
            `${variableOf(name)} must have no white space or invisible character`,
          );
          expect(fault).toMatch(/not "[ -~]+"$/);
          expect(JSON.parse(fault.slice(fault.indexOf('"')))).toBe(text);
        }
      }
    },
  );

  it.each(['pfl\ufffdnze.db', 'pl\0nts.db', 'pl\nnts.db', 'pl\u0085nts.db'])(
    'readSettings rejects the file name %j, which has a character that no name has',
    (path) => {
      for (const flag of ['--tokens-file', '--tls-cert', '--tls-key'])
        expect(faults([`${flag}=${path}`])[0]).toMatch(/^--[a-z-]+ must have no .*, not "[ -~]+"$/);
      expect(faults([`--database=sqlite:${path}`])[0]).toMatch(/, not "sqlite:[ -~]+"$/);
    },
  );

  it('the entries of a list and tokens may have white space at their ends, but no invisible character', () => {
    const env = {
      PLANTSTORE_TOKENS: ' one ,\r\n\ufefftwo\r\n',
      PLANTSTORE_TRUSTED_PROXIES: '10.0.0.1, ::1\n',
    };
    expect(settings([], env)).toMatchObject({ trustedProxies: ['10.0.0.1', '::1'] });
    expect(faults(['--trusted-proxies', '10.0.0.1,\u200b10.0.0.2'])[0]).toContain('\\u200b10');
    expect(faults([], { PLANTSTORE_TOKENS: 'one,two\u200b' })[0]).toMatch(/not UTF-8\) in it$/);
  });

  it.each([
    'file:k.db',
    'C:\\plants\\plants.db',
    'c:plants.db',
    'sqlite:plants.db',
    'data\\plants.db',
    'plants.db?mode=rwc',
    'plants.db # main',
    'plants.db\u00a0# main',
    ' plants.db',
    '"plants.db"',
    "'plants.db'",
    '`plants.db`',
    '“plants.db”',
    '"plants.db',
    `$\{PLANTS}`,
    `/data/$\{PLANTS}.db`,
    '$PLANTS',
    '$(pwd)/plants.db',
    '%APPDATA%/plants.db',
    '{{ plants }}',
    '~/plants.db',
    '/data/$PLANTS.db',
    '/data/%PLANTS%.db',
    'sqlite3:plants.db',
    'undefined',
    '/data/null/plants.db',
    '<path>',
    'p.db;Version=3',
    'p.db#main',
  ])('readSettings rejects sqlite:%s, which is a URL, a template or a path of Windows', (path) => {
    expect(faults([`--database=sqlite:${path}`])).toEqual([
      `--database must be sqlite: and a path: no URL, no variable, no quotes, undefined, null or ?#;<>\\, not ${quoted(`sqlite:${path}`)}`,
    ]);
  });

  it.each([
    'pflänze.db',
    'our plants.db',
    "it's.db",
    '50%.db',
    'a$b.db',
    './a:b.db',
    './~a.db',
    '2026-11-22T20:45.db',
    '植物/🌱.db',
  ])('readSettings accepts sqlite:%s', (path) => {
    expect(settings([`--database=sqlite:${path}`])).toMatchObject({ database: { path } });
  });

  it('readSettings shows no wrong database that may contain a password', () => {
    for (const text of [
      'postgres://ada:s3cr3t@db/garden\r',
      'mysql://ada:s3cr3t@db/garden',
      '"postgres://ada:s3cr3t@db/garden"',
      'sqlite://ada:s3cr3t@db',
      'host=db user=ada pw=s3cr3t',
    ])
      expect(faults([], { PLANTSTORE_DATABASE: text }).join()).toMatch(
        /^PLANTSTORE_DATABASE must (?!.*s3cr3t)/,
      );
  });

  it('readSettings shows a word that a setting does not have', () => {
    expect(faults(['--metrics=yes', '--log=xml', '--health-port=no'])).toEqual([
      '--health-port must be a whole number from 0 to 65535, or off, not "no"',
      '--metrics must be on or off, not "yes"',
      '--log must be json or pretty, not "xml"',
    ]);
  });

  it('readSettings takes off for the health port, which then serves no metrics', () => {
    const env = { PLANTSTORE_HEALTH_PORT: '9000', PLANTSTORE_METRICS: 'on' };
    expect(settings(['--health-port=off', '--metrics=off'], env)).toEqual(defaults);
    expect(faults(['--health-port=off'], env)).toEqual([
      'PLANTSTORE_METRICS needs a port for /metrics: set --health-port',
    ]);
  });

  it.each([
    [['--port', '1', '--host=a', '--port=2'], '--port is given twice; set it once'],
    [['-h', '-h'], '-h is given twice; set it once'],
  ])('readSettings rejects the repeated flag of %j', (argv, fault) => {
    expect(faults(argv)).toEqual([fault]);
  });

  it('readSettings names an unexpected argument', () => {
    expect(faults(['--port', '80', 'x'])).toEqual(['unexpected argument "x"; see --help']);
  });

  it('readSettings accepts the greatest port, size, time and numbers', () => {
    const argv = [
      '--port=65535',
      '--max-body-bytes=268435456',
      '--handler-timeout-ms=86400000',
      '--max-in-flight=1000000',
      '--max-connections=1000000',
    ];
    expect(faults(argv)).toEqual([]);
  });

  it('readSettings names an unknown variable also beside an invalid setting', () => {
    expect(settings(['--port', 'x'], { PLANTSTORE_PROT: '1' })).toEqual({
      kind: 'invalid',
      faults: ['--port must be a whole number from 0 to 65535, not "x"'],
      warnings: ['variables that are no settings: PLANTSTORE_PROT; see --help'],
    });
  });

  it('readSettings names no variable that Kubernetes sets for a service, and its value of a setting', () => {
    const env = {
      PLANTSTORE_SERVICE_HOST: '10.0.0.1',
      PLANTSTORE_SERVICE_PORT_HTTP: '3000',
      PLANTSTORE_PORT_3000_TCP: 'tcp://10.0.0.1:3000',
      PLANTSTORE_PORT_3000_TCP_ADDR: '10.0.0.1',
    };
    expect(readSettings([], env)).toMatchObject({ warnings: [] });
    expect(faults([], { PLANTSTORE_PORT: 'tcp://10.0.0.1:3000' })).toEqual([
      'PLANTSTORE_PORT must be a whole number from 0 to 65535, not "tcp://10.0.0.1:3000"',
    ]);
  });

  it('readSettings names a variable that has an invisible character in its name', () => {
    const env = { '\ufeffPLANTSTORE_DATABASE': 'memory:', 'PLANTSTORE_PORT ': '1' };
    expect(readSettings([], env)).toMatchObject({
      warnings: [
        'variables that are no settings: "\\ufeffPLANTSTORE_DATABASE", "PLANTSTORE_PORT "; see --help',
      ],
    });
  });

  it('readSettings names a wrong number, but not a long one, which may be a token', () => {
    expect(faults(['--max-in-flight=10MB', '--port', 's3cr3ts3cr3ts'])).toEqual([
      '--port must be a whole number from 0 to 65535',
      '--max-in-flight must be a whole number from 1 to 1000000, not "10MB"',
    ]);
  });

  it('readSettings rejects an IPv6 address in brackets', () => {
    expect(faults(['--host', '[::1]'])).toEqual([
      '--host must be a host name or an address, without brackets, not "[::1]"',
    ]);
    expect(faults(['--host', '::1'])).toEqual([]);
  });

  it('readSettings never repeats a value that may be a token', () => {
    expect(faults(['--token=s3cr3t', '--tokens', 's3cr3t', 's3cr3t'])).toEqual([
      "Unknown option '--token'; see --help",
    ]);
    expect(inspect(settings([], { PLANTSTORE_TOKENS: 's3cr3t' }), { depth: null })).not.toContain(
      's3cr3t',
    );
    const message = faults([], { PLANTSTORE_TOKENS: 'fine,s3cr3t token' }).join();
    expect(message).toContain('number 2');
    expect(message).not.toContain('s3cr3t');
  });

  it('readSettings rejects a tokens file and tokens that are both set in the environment', () => {
    expect(faults([], { PLANTSTORE_TOKENS_FILE: 'f', PLANTSTORE_TOKENS: 't' })).toEqual([
      'PLANTSTORE_TOKENS_FILE and PLANTSTORE_TOKENS are both set; set one',
    ]);
  });

  it('readSettings rejects the public port as the health port, except port 0 for both', () => {
    expect(faults(['--port', '80', '--health-port', '80'])).toEqual([
      '--health-port must be another port than --port',
    ]);
    expect(faults([], { PLANTSTORE_HEALTH_PORT: String(settingTable.port.default) })).toEqual([
      'PLANTSTORE_HEALTH_PORT must be another port than --port',
    ]);
    expect(faults(['--port', '0', '--health-port', '0'])).toEqual([]);
  });

  it('readSettings shares a port only between processes that can replace each other', () => {
    const env = { PLANTSTORE_DATABASE: 'postgres://one/plants', PLANTSTORE_TOKENS: 't' };
    expect(settings(['--reuse-port=on'], env)).toMatchObject({ reusePort: true });
    expect(faults(['--reuse-port=on'], { ...env, PLANTSTORE_DATABASE: 'memory:' })).toEqual([
      '--reuse-port needs a database that processes can share, postgres://…',
    ]);
    expect(faults([], { PLANTSTORE_REUSE_PORT: 'on' })).toEqual([
      'PLANTSTORE_REUSE_PORT needs a database that processes can share, postgres://…',
      'PLANTSTORE_REUSE_PORT needs tokens that all processes accept: set --tokens-file or PLANTSTORE_TOKENS, or each generates its own',
    ]);
    expect(faults(['--reuse-port=off'], { PLANTSTORE_REUSE_PORT: 'on' })).toEqual([]);
  });

  it('readSettings returns help and version beside other settings', () => {
    expect(settings(['--port', 'x', '--help'])).toEqual({ kind: 'help' });
    expect(settings(['--version'])).toEqual({ kind: 'version' });
  });

  it('readSettings warns of a stop that is shorter than a request may take', () => {
    const warning = '--shutdown-timeout-ms is below --handler-timeout-ms: a stop can cut requests';
    const of = (...argv: string[]) => readSettings(argv, {});
    expect(of('--shutdown-timeout-ms=1000')).toMatchObject({ warnings: [warning] });
    expect(of('--handler-timeout-ms=30000')).toMatchObject({ warnings: [warning] });
    expect(of('--handler-timeout-ms=20000')).toMatchObject({ warnings: [] });
  });

  it('readSettings lists every setting in the help', () => {
    for (const name of settingNames) {
      expect(helpText).toContain(flagOf(name) ?? '');
      expect(helpText).toContain(variableOf(name));
    }
    expect(helpText).not.toMatch(/\Sdefault:/);
  });
});
