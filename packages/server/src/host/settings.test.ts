import { describe, expect, it } from 'vitest';
import { helpText, settingTable } from './setting-table.ts';
import { readSettings } from './settings.ts';

const defaults = {
  host: '127.0.0.1',
  port: 3000,
  basePath: '',
  database: { kind: 'sqlite', path: 'plants.db' },
  tokens: { kind: 'none' },
  maxBodyBytes: 1_048_576,
  log: undefined,
};

const settings = (argv: string[], env: Record<string, string> = {}) => {
  const invocation = readSettings(argv, env);
  return invocation.kind === 'run' ? invocation.settings : invocation;
};

const faults = (argv: string[], env: Record<string, string> = {}) => {
  const invocation = readSettings(argv, env);
  return invocation.kind === 'wrong' ? invocation.faults : [];
};

describe('readSettings', () => {
  it('has a default for every setting', () => {
    expect(settings([])).toEqual(defaults);
  });

  it('reads every setting from flags, in both forms', () => {
    const argv = [
      '--port=0',
      '--database=memory:',
      '--log=json',
      '--host',
      '::1',
      '--base-path',
      '/garden/v1/',
      '--tokens-file',
      'tokens.txt',
      '--max-body-bytes',
      '64',
    ];
    expect(settings(argv)).toEqual({
      host: '::1',
      port: 0,
      basePath: '/garden/v1/',
      database: { kind: 'memory' },
      tokens: { kind: 'file', path: 'tokens.txt' },
      maxBodyBytes: 64,
      log: 'json',
    });
  });

  it('reads every setting from the environment', () => {
    const env = {
      PLANTSTORE_HOST: '0.0.0.0',
      PLANTSTORE_PORT: '8080',
      PLANTSTORE_BASE_PATH: '/garden',
      PLANTSTORE_DATABASE: 'sqlite:/var/lib/plants.db',
      PLANTSTORE_TOKENS: 'one, two==',
      PLANTSTORE_MAX_BODY_BYTES: '1000',
      PLANTSTORE_LOG: 'pretty',
    };
    expect(settings([], env)).toEqual({
      host: '0.0.0.0',
      port: 8080,
      basePath: '/garden',
      database: { kind: 'sqlite', path: '/var/lib/plants.db' },
      tokens: { kind: 'given', tokens: ['one', 'two=='] },
      maxBodyBytes: 1000,
      log: 'pretty',
    });
  });

  it.each(['postgres://ada@one:5432,two/plants?sslmode=verify-full', 'postgresql://one/plants'])(
    'takes the database %s',
    (url) => {
      expect(settings(['--database', url])).toEqual({
        ...defaults,
        database: { kind: 'postgres', url },
      });
    },
  );

  it('lets a flag win over the environment', () => {
    expect(settings(['--port', '1'], { PLANTSTORE_PORT: 'nonsense' })).toEqual({
      ...defaults,
      port: 1,
    });
    expect(settings(['--tokens-file', 'f'], { PLANTSTORE_TOKENS: 'one' })).toEqual({
      ...defaults,
      tokens: { kind: 'file', path: 'f' },
    });
  });

  it('names every wrong setting at once, with where it was set', () => {
    const argv = [
      '--port',
      '99999',
      '--colour=green',
      '--log',
      'xml',
      '--host=',
      'plants',
      '--database',
    ];
    const env = { PLANTSTORE_MAX_BODY_BYTES: '1e9', PLANTSTORE_BASE_PATH: 'garden' };
    expect(faults(argv, env).map((fault) => fault.split(' ')[0])).toEqual([
      '--colour',
      'argument',
      '--database',
      '--host',
      '--port',
      'PLANTSTORE_BASE_PATH',
      'PLANTSTORE_MAX_BODY_BYTES',
      '--log',
    ]);
  });

  it.each([
    [['--port', '-1']],
    [['--port', '3000.0']],
    [['--port', '']],
    [['--port', '--host', 'x']],
    [['--port', '1', '--port', '2']],
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
    [['--max-body-bytes', '0']],
    [['--max-body-bytes', '268435457']],
    [['--tokens-file', '']],
    [['-p', '3000']],
    [['--no-log']],
  ])('refuses %j', (argv) => {
    expect(faults(argv)).not.toEqual([]);
  });

  it.each([{ PLANTSTORE_PORT: '' }, { PLANTSTORE_TOKENS: '' }, { PLANTSTORE_TOKENS: 'a,,b' }])(
    'refuses the environment %j',
    (env) => {
      expect(faults([], env)).not.toEqual([]);
    },
  );

  it('never repeats a token in what it says', () => {
    expect(faults(['s3cr3t', '--token=s3cr3t']).join()).not.toContain('s3cr3t');
    const said = faults([], { PLANTSTORE_TOKENS: 'fine,s3cr3t token' }).join();
    expect(said).toContain('number 2');
    expect(said).not.toContain('s3cr3t');
  });

  it('does not choose between a tokens file and tokens that are both in the environment', () => {
    expect(faults([], { PLANTSTORE_TOKENS_FILE: 'f', PLANTSTORE_TOKENS: 't' })).toEqual([
      'PLANTSTORE_TOKENS_FILE and PLANTSTORE_TOKENS are both set; set one',
    ]);
  });

  it('gives help and the version whatever else is said', () => {
    expect(settings(['--port', 'x', '--help'])).toEqual({ kind: 'help' });
    expect(settings(['--version', 'x'])).toEqual({ kind: 'version' });
  });

  it('has every setting in its help', () => {
    for (const { flag, variable } of Object.values(settingTable)) {
      expect(helpText).toContain(flag);
      expect(helpText).toContain(variable);
    }
  });
});
