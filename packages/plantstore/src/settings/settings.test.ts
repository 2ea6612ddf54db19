import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { newFolder, runIn } from '../../test/run-in-folder.ts';
import {
  flagOf,
  type Setting,
  settingNames,
  type SettingName,
  settingTable,
  variableOf,
} from './setting-table.ts';
import { readSettings } from './settings.ts';
import { quoted } from './text.ts';

type Variables = Readonly<Record<string, string>>;

const settings = (argv: readonly string[], env: Variables = {}) => {
  const invocation = readSettings(argv, env);
  return invocation.kind === 'run' ? invocation.settings : invocation;
};

const faults = (argv: readonly string[], env: Variables = {}) => {
  const invocation = readSettings(argv, env);
  return invocation.kind === 'invalid' ? invocation.faults : [];
};

/** The settings of an empty command line. */
const defaults = settings([]);

const fileWith = async (content: string | Buffer): Promise<string> => {
  const path = join(await newFolder(), 'settings.env');
  await writeFile(path, content);
  return path;
};

const faultsOfFile = async (content: string | Buffer) => {
  const path = await fileWith(content);
  return faults(['--env-file', path]).map((fault) => fault.replaceAll(path, 'FILE'));
};

/** For each setting a text, its value, and a text that is wrong. */
const examples: { readonly [name in SettingName]: readonly [string, unknown, wrong: string] } = {
  host: ['::1', '::1', '[::1]'],
  port: ['8080', 8_080, '65536'],
  reusePort: ['on', true, 'yes'],
  basePath: ['/garden/v1/', '/garden/v1/', '/a?b'],
  database: ['postgres://one/p', { kind: 'postgres', url: 'postgres://one/p' }, 'plants.db'],
  tokensFile: ['tokens.txt', 'tokens.txt', 't\rt'],
  tokens: ['one, two==', { authenticate: expect.any(Function), entries: [{}, {}] }, 'a,,b'],
  tlsCert: ['cert.pem', 'cert.pem', 't\rt'],
  tlsKey: ['key.pem', 'key.pem', 't\rt'],
  corsOrigins: ['https://a.example, http://b:8080', ['https://a.example', 'http://b:8080'], '*'],
  corsAllowedHeaders: ['traceparent', ['traceparent'], 'a b'],
  trustedProxies: ['10.0.0.0/8, ::1', ['10.0.0.0/8', '::1'], 'localhost'],
  healthPort: ['9000', 9_000, 'no'],
  metrics: ['on', true, 'yes'],
  maxBodyBytes: ['64', 64, '268435457'],
  maxInFlight: ['2', 2, '10MB'],
  maxConnections: ['3', 3, '0'],
  headersTimeoutMs: ['4', 4, '1e3'],
  requestTimeoutMs: ['5', 5, '-1'],
  keepAliveTimeoutMs: ['6', 6, '86400001'],
  handlerTimeoutMs: ['7', 7, '0'],
  shutdownTimeoutMs: ['8', 8, '3.0'],
  log: ['json', 'json', 'xml'],
};

const textOf = (name: SettingName) => examples[name][0];
const valuesOf = (names: readonly SettingName[]) =>
  Object.fromEntries(names.map((name) => [name, examples[name][1]]));
const withFlags = settingNames.filter((name) => flagOf(name) !== undefined);
/** Tokens in the environment conflict with a tokens file there. */
const withVariables = settingNames.filter((name) => name !== 'tokensFile');

describe('readSettings', () => {
  it('readSettings uses a default for every setting, also beside variables that are empty', () => {
    const expected = settingNames.flatMap((name) => {
      const row: Setting = settingTable[name];
      if (!('default' in row)) return [];
      return [[name, row.parser.parse(String(row.default))._unsafeUnwrap()] as const];
    });
    expect(defaults).toEqual(Object.fromEntries(expected));
    const env = Object.fromEntries(settingNames.map((name) => [variableOf(name), '']));
    expect(settings([], env)).toEqual(defaults);
  });

  it('readSettings reads every setting from a flag, in both forms', () => {
    const expected = valuesOf(withFlags);
    const joined = withFlags.map((name) => `${flagOf(name)}=${textOf(name)}`);
    const parted = withFlags.flatMap((name) => [flagOf(name) ?? '', textOf(name)]);
    expect([settings(joined), settings(parted)]).toEqual([expected, expected]);
  });

  it('readSettings reads every setting from a variable of the environment, or of a file with any line ends', async () => {
    const pairs = withVariables.map((name) => [variableOf(name), textOf(name)] as const);
    expect(settings([], Object.fromEntries(pairs))).toEqual(valuesOf(withVariables));
    for (const lineEnd of ['\n', '\r\n']) {
      const lines = pairs.map(([name, text]) => `export ${name} = '${text}' # ours`);
      const file = await fileWith(['# a comment', '', ...lines].join(lineEnd));
      expect(settings(['--env-file', file])).toEqual(valuesOf(withVariables));
    }
  });

  it.each(settingNames)('readSettings names a wrong value of %s with its source', async (name) => {
    const [, , wrong] = examples[name];
    const [flag, variable] = [flagOf(name), variableOf(name)];
    const shown = name === 'tokens' ? 'comma-separated; wrong: number 2' : `not ${quoted(wrong)}`;
    const expectFault = ([fault = '']: readonly string[], source: string) => {
      expect(fault.slice(0, source.length + 6)).toBe(`${source} must `);
      expect(fault.slice(-shown.length)).toBe(shown);
    };
    if (flag !== undefined) expectFault(faults([`${flag}=${wrong}`]), flag);
    expectFault(faults([], { [variable]: wrong }), variable);
    // A carriage return would end the line.
    if (!wrong.includes('\r'))
      expectFault(await faultsOfFile(`${variable}='${wrong}'\n`), `${variable} in FILE`);
  });

  it('a flag takes precedence over a variable, and a variable that is not empty over the file', async () => {
    const file = await fileWith(
      'PLANTSTORE_PORT=1\nPLANTSTORE_HOST=file\nPLANTSTORE_BASE_PATH=/file\n',
    );
    const env = { PLANTSTORE_PORT: 'x', PLANTSTORE_HOST: 'variable', PLANTSTORE_BASE_PATH: '' };
    const found = { ...(defaults as object), port: 3, host: 'variable', basePath: '/file' };
    expect(settings(['--env-file', file, '--port=3'], env)).toEqual(found);
    expect(settings(['--tokens-file', 'f'], { PLANTSTORE_TOKENS: 'one' })).toEqual({
      ...(defaults as object),
      tokensFile: 'f',
    });
  });

  it.each<[readonly string[], Variables, ...string[]]>([
    [
      ['--port', 'x', '--log', 'xml', '--host=', '--tls-cert=', '--tls-key=k'],
      { PLANTSTORE_BASE_PATH: 'garden' },
      '--host ',
      '--port must be a whole number from 0 to 65535, not "x"',
      'PLANTSTORE_BASE_PATH ',
      '--tls-cert must be the path of a file, not ""',
      '--log must be json or pretty, not "xml"',
    ],
    [['--tls-cert', 'c'], {}, '--tls-cert alone is not enough: set --tls-cert and --tls-key'],
    [[], { PLANTSTORE_TLS_KEY: 'k' }, 'PLANTSTORE_TLS_KEY alone is not enough: set --tls-cert and'],
    [
      [],
      { PLANTSTORE_TOKENS_FILE: 'f', PLANTSTORE_TOKENS: 't' },
      'PLANTSTORE_TOKENS_FILE and PLANTSTORE_TOKENS are both set; set one',
    ],
    [['--port=80', '--health-port=80'], {}, '--health-port must be another port than --port'],
    [[], { PLANTSTORE_HEALTH_PORT: '3000' }, 'PLANTSTORE_HEALTH_PORT must be another port than'],
    [
      ['--health-port=off'],
      { PLANTSTORE_HEALTH_PORT: '9000', PLANTSTORE_METRICS: 'on' },
      'PLANTSTORE_METRICS needs a port for /metrics: set --health-port',
    ],
    [
      ['--reuse-port=on'],
      {},
      '--reuse-port needs a database that processes can share, postgres://…',
      '--reuse-port needs tokens that all processes accept: set --tokens-file or PLANTSTORE_TOKENS, ',
    ],
    [['--port', '1', '--host=a', '--port=2'], {}, '--port is given twice; set it once'],
    [['-h', '-h'], {}, '-h is given twice; set it once'],
    [['--port', '80', 'x'], {}, 'unexpected argument "x"; see --help'],
    [['--token=s3cr3t', '--tokens', 's3cr3t'], {}, "Unknown option '--token'; see --help"],
    [['--tokens-file', '--log=json'], {}, "Option '--tokens-file' argument is ambiguous"],
    [['--port', 's3cr3ts3cr3ts'], {}, '--port must be a whole number from 0 to 65535'],
    [['--health-port=no'], {}, '--health-port must be a whole number from 0 to 65535, or off, not'],
    [[], { PLANTSTORE_PORT: 'tcp://10.0.0.1:3000' }, 'PLANTSTORE_PORT must be a whole number from'],
  ])('readSettings names everything that is wrong in %j and %j', (argv, env, ...expected) => {
    const found = faults(argv, env);
    expect(found.map((fault, at) => fault.slice(0, expected[at]?.length))).toEqual(expected);
    expect(found.join()).not.toContain('s3cr3t');
  });

  it('readSettings takes off for the health port and metrics, and any free port for both ports', () => {
    const env = { PLANTSTORE_HEALTH_PORT: '9000', PLANTSTORE_METRICS: 'on' };
    expect(settings(['--health-port=off', '--metrics=off'], env)).toEqual(defaults);
    expect(faults(['--port', '0', '--health-port', '0'])).toEqual([]);
    expect(faults(['--reuse-port=off'], { PLANTSTORE_REUSE_PORT: 'on' })).toEqual([]);
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

  it('readSettings rejects a path with a character that no name has, also of a command', async () => {
    for (const path of ['pfl\ufffdnze.db', 'pl\0nts.db', 'pl\nnts.db', 'pl\u0085nts.db']) {
      for (const flag of ['--tokens-file=', '--tls-cert=', '--database=sqlite:', '--env-file='])
        expect(faults([flag + path])[0]).toMatch(/^--[a-z-]+ must have no .*, not "[ -~]+"$/);
      const { status, stderr } = await runIn(await newFolder(), ['backup', path]);
      expect(status).toBe(2);
      expect(stderr).toMatch(/^plantstore: the file name must have no [ -~]+, not "[ -~]+"\n$/);
    }
  });

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
    'plants.db?mode=rwc',
    'plants.db\u00a0# main',
    ' plants.db',
    '"plants.db"',
    '“plants.db”',
    `/data/$\{PLANTS}.db`,
    '$(pwd)/plants.db',
    '~/plants.db',
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

  it.each(['pflänze.db', 'our plants.db', "it's.db", '50%.db', 'a$b.db', './a:b.db', '植物/🌱.db'])(
    'readSettings accepts sqlite:%s',
    (path) => {
      expect(settings([`--database=sqlite:${path}`])).toMatchObject({ database: { path } });
    },
  );

  it.each(['sqlite:', 'sqlite::memory:', 'sqlite://plants.db', 'mysql://localhost'])(
    'readSettings rejects the database %s',
    (text) => {
      expect(faults(['--database', text])).toEqual([expect.stringMatching(/^--database must be /)]);
    },
  );

  it.each([
    'postgres://ada:s3cr3t@db/garden\r',
    'mysql://ada:s3cr3t@db/garden',
    '"postgres://ada:s3cr3t@db/garden"',
    'sqlite://ada:s3cr3t@db',
    'host=db user=ada pw=s3cr3t',
  ])('readSettings does not show the wrong database %j, which may contain a password', (text) => {
    const [fault] = faults([], { PLANTSTORE_DATABASE: text });
    expect(fault).toMatch(/^PLANTSTORE_DATABASE must (?!.*s3cr3t)/);
  });

  it('readSettings keeps no token as text', () => {
    const kept = settings([], { PLANTSTORE_TOKENS: 's3cr3t' });
    expect(inspect(kept, { depth: null })).not.toContain('s3cr3t');
  });

  it('readSettings names unknown variables, also beside a wrong setting, but none that Kubernetes sets for a service', () => {
    const env = {
      '\ufeffPLANTSTORE_DATABASE': 'memory:',
      'PLANTSTORE_PORT ': '1',
      PLANTSTORE_SERVICE_HOST: '10.0.0.1',
      PLANTSTORE_SERVICE_PORT_HTTP: '3000',
      PLANTSTORE_PORT_3000_TCP: 'tcp://10.0.0.1:3000',
      PLANTSTORE_PORT_3000_TCP_ADDR: '10.0.0.1',
    };
    const names = '"\\ufeffPLANTSTORE_DATABASE", "PLANTSTORE_PORT "';
    const warnings = [`variables that are no settings: ${names}; see --help`];
    expect(readSettings([], env)).toMatchObject({ kind: 'run', warnings });
    expect(readSettings(['--port', 'x'], env)).toMatchObject({ kind: 'invalid', warnings });
  });

  it('readSettings returns help and version beside other settings', () => {
    for (const flag of ['--help', '-h'])
      expect(settings(['--port=x', flag])).toEqual({ kind: 'help' });
    for (const flag of ['--version', '-v']) expect(settings([flag])).toEqual({ kind: 'version' });
  });

  it('readSettings warns of a stop that is shorter than a request may take', () => {
    const warning = '--shutdown-timeout-ms is below --handler-timeout-ms: a stop can cut requests';
    const of = (...argv: string[]) => readSettings(argv, {});
    expect(of('--shutdown-timeout-ms=1000')).toMatchObject({ warnings: [warning] });
    expect(of('--handler-timeout-ms=30000')).toMatchObject({ warnings: [warning] });
    expect(of('--handler-timeout-ms=20000')).toMatchObject({ warnings: [] });
  });
});

describe('--env-file', () => {
  const form = "must be NAME=value, or NAME='value' for one with a #";
  it.each([
    [
      'PLANTSTORE_PROT=s3cr3t',
      'FILE has the unknown variable PLANTSTORE_PROT; it may have settings only: see --help',
    ],
    ['s3cr3t=', 'FILE has other variables; it may have settings only: see --help'],
    [
      'PGPASSWORD=s3cr3t',
      'FILE has PGPASSWORD: set it in the environment, or name a pass file in PGPASSFILE there',
    ],
    ['\ufeffPLANTSTORE_PORT=1', 'FILE must be UTF-8 without a byte order mark'],
    [Buffer.from('PLANTSTORE_PORT=1', 'utf16le'), 'FILE must be UTF-8 without a byte order mark'],
    [
      'PLANTSTORE_LOG=json # ours\nPLANTSTORE_DATABASE=postgres://ada:s3#cr3t@db/garden',
      `line 2 of FILE ${form}`,
    ],
    ['PLANTSTORE_BASE_PATH=#s3cr3t', `line 1 of FILE ${form}`],
    ["PLANTSTORE_TOKENS='s3cr3t", `line 1 of FILE ${form}`],
    ['PLANTSTORE_TOKENS="one"s3cr3t', `line 1 of FILE ${form}`],
    ['# ours\r\n\r\nPLANTSTORE_TOKENS: s3cr3t', `line 3 of FILE ${form}`],
    ['PLANTSTORE_BASE_PATH=/a\rb', `line 1 of FILE ${form}`],
  ])('a fault of the file of --env-file is named without a value: %j', async (file, fault) => {
    expect(await faultsOfFile(file)).toEqual([fault]);
  });

  it('the file of --env-file is read as Node reads it', async () => {
    const lines = [
      'PLANTSTORE_BASE_PATH=/garden # ours',
      "PLANTSTORE_DATABASE = 'postgres://ada:a;b#c $(id)@db/garden'  # quoted",
      'PLANTSTORE_LOG=',
      'PLANTSTORE_PORT=1',
      '\tPLANTSTORE_PORT=8080 ',
      'export PLANTSTORE_METRICS= # the default',
    ];
    expect(settings(['--env-file', await fileWith(lines.join('\n'))])).toMatchObject({
      basePath: '/garden',
      database: { kind: 'postgres', url: 'postgres://ada:a;b#c $(id)@db/garden' },
      port: 8080,
      metrics: false,
    });
  });

  it.each([
    ['/no/settings.env', /^--env-file cannot be read: ENOENT: .* '\/no\/settings\.env'$/],
    ['', /^--env-file cannot be read: ENOENT: .* ''$/],
    ['/dev/null', /^--env-file must be a regular file, not \/dev\/null$/],
  ])('--env-file reports that %j cannot be read', (path, fault) => {
    expect(faults([`--env-file=${path}`])).toEqual([expect.stringMatching(fault)]);
  });

  it('a command reads the database from the file of --env-file, and its faults', async () => {
    const folder = await newFolder();
    const env = { PLANTSTORE_DATABASE: '' };
    const database = `sqlite:${join(folder, 'a.db')}`;
    const file = await fileWith(`PLANTSTORE_DATABASE=${database}\nPLANTSTORE_PORT=x\n`);
    await runIn(folder, ['import', '--env-file', file], '{"id":1,"name":"a"}', env);
    const checked = await runIn(folder, ['check', `--env-file=${file}`], '', env);
    expect(checked.stdout).toMatch(/a\.db: 1 plant, /);
    const wrong = await fileWith('PLANTSTORE_DATABAES=sqlite:a.db\n');
    expect(await runIn(folder, ['check', '--env-file', wrong], '', env)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('the unknown variable PLANTSTORE_DATABAES;') as unknown,
    });
  });
});
