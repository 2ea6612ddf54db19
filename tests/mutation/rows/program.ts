import { rowsIn } from './rows-in.ts';

const of = rowsIn('packages/server/src');

export const program = [
  ...of('program/main.ts', 'program/main', [
    'a misspelt variable may contain a secret',
    '[...secretVariables, ...misspeltVariables(env)]',
    'secretVariables',
  ]),
  ...of('program/main.ts', 'tests/black-box/import', [
    'messages that nothing reads do not stop a command',
    "stderr.on('error', () => {});",
    '',
  ]),
  ...of('program/exit-status.ts', 'tests/black-box/lost-log-lines', [
    'a pipe of the log that nothing reads does not stop the server',
    "stdout.on('error', ",
    "stdout.once('prefinish', ",
  ]),
  ...of('program/commands/back-up-and-restore.ts', 'tests/black-box/commands', [
    'a restore creates the database, and not the backup',
    'restorePlants({ from, to: database.path })',
    'restorePlants({ from: database.path, to: from })',
  ]),
  ...of(
    'program/commands/export-plants.ts',
    'tests/black-box/commands',
    [
      'an export to a full disk fails',
      '      if (error) reject(error);',
      '      if (error) settle();',
    ],
    ['an export writes CSV with its header', 'let text = format.header;', "let text = '';"],
  ),
  ...of(
    'program/commands/formats.ts',
    'program/commands/formats',
    ['a carriage return in CSV is quoted', '/[",\\r\\n]/', '/[",\\n]/'],
    ['a comma in CSV is quoted', '/[",\\r\\n]/', '/["\\r\\n]/'],
    ['a quote in a quoted field is doubled', "text.replaceAll('\"', '\"\"')", 'text'],
    ['an empty tag is not an absent one', "text === '' || ", ''],
    ['records of CSV end with CR LF', 'quote(tag)}\\r\\n', 'quote(tag)}\\n'],
    ['ids of CSV are exact', '/^-?\\d{1,15}$/', '/^-?\\d{1,19}$/'],
    ['a huge id of CSV is refused in a short time', 'digits.slice(0, 20)', 'digits.slice(0, 18)'],
    ['no digit of an id is dropped', 'digits.slice(0, 20)', 'digits.slice(0, 19)'],
  ),
  ...of(
    'program/commands/import-plants.ts',
    'tests/black-box/import',
    [
      'a strict import starts no batch after a refused line',
      '    await creating;\n    if (!isStopped()) creating = create(batch);',
      '    await creating;\n    creating = create(batch);',
    ],
    [
      'refused lines have the exit status 3',
      'return counts.refused > 0 ? someRefused : done;',
      'return done;',
    ],
    [
      'an import names the first line that it could not create',
      'if (!isStopped()) failure =',
      'failure =',
    ],
  ),
  ...of('program/commands/run-command.ts', 'tests/black-box/commands', [
    'a flag wins over the environment',
    "values.get(databaseFlag) ?? env[variableOf('database')]",
    "env[variableOf('database')] ?? values.get(databaseFlag)",
  ]),
  ...of('program/log.ts', 'program/log', ['C1 controls are escaped', '\\u007f-\\u009f', '\\u007f']),
  ...of('program/pretty-line.ts', 'program/log', [
    'the lines of a cause have no control characters',
    "one === '' ? '' : show(one)",
    "one === '' ? '' : String(one)",
  ]),
  ...of('program/serve/generate-token.ts', 'tests/black-box/first-run', [
    'the generated token is not logged, but printed',
    'stderr.write(',
    'process.stdout.write(',
  ]),
  ...of('program/serve/generate-token.ts', 'tests/black-box/tls', [
    'the curl command accepts a self-signed certificate',
    "'-ik' : '-i'",
    "'-i' : '-i'",
  ]),
  ...of('program/serve/health-server.ts', 'program/serve/health-server', [
    'other paths are not found',
    "path !== '/livez' && path !== '/readyz' && page === undefined",
    'path === undefined',
  ]),
  ...of('program/serve/ignored-signals.ts', 'tests/black-box/ignored-signals', [
    'SIGUSR1 does not open the debugger',
    "'SIGUSR1', ",
    '',
  ]),
  ...of('program/serve/metrics.ts', 'tests/black-box/metrics', [
    'durations are in seconds',
    'requestDurations.observe(durationMs / 1_000);',
    'requestDurations.observe(durationMs);',
  ]),
  ...of('program/serve/parse-tokens.ts', 'program/serve/load-tokens', [
    'a token is valid on its whole last day',
    'isDate ? start + dayMs : undefined',
    'isDate ? start : undefined',
  ]),
  ...of('program/serve/parse-tokens.ts', 'tests/black-box/tokens-in-memory', [
    'a name keeps no tokens in memory',
    'Buffer.from(text).toString()',
    'text',
  ]),
  ...of(
    'program/serve/readiness.ts',
    'program/serve/readiness',
    [
      'a check that hangs is not ready',
      '(await undefinedAfterTimeout(timeouts, current())) ?? timedOut',
      'await current()',
    ],
    ['probes share a check', '    current ??= check()', '    current = check()'],
  ),
  ...of('program/serve/reload.ts', 'program/serve/reload', [
    'reloads run one after another',
    'last = last.then(reloadAll);',
    'last = reloadAll();',
  ]),
  ...of(
    'program/serve/run.ts',
    'program/main',
    [
      'a second signal ends a start that hangs',
      'Promise.race([starting, signals.stopAtOnce, signals.crash]);',
      'starting;',
    ],
    [
      'an uncaught exception during a stop ends the process',
      'Promise.race([finish(), signals.stopAtOnce, signals.crash])',
      'Promise.race([finish(), signals.stopAtOnce])',
    ],
  ),
  ...of(
    'program/serve/run.ts',
    'tests/black-box/crash',
    [
      'a thrown value that may be a request is not logged',
      'thrown instanceof Error ? describeCause(thrown) : typeof thrown',
      'thrown instanceof Error ? describeCause(thrown) : thrown',
    ],
    [
      'an exception is logged without a token',
      'thrown instanceof Error ? describeCause(thrown)',
      'thrown instanceof Error ? thrown.stack',
    ],
  ),
  ...of(
    'program/serve/run.ts',
    'tests/black-box/shutdown',
    [
      'a stop waits for the requests in flight',
      'await started.server.close(settings.shutdownTimeoutMs);',
      'await started.server.close(0);',
    ],
    [
      'a second signal ends a stop',
      '[finish(), signals.stopAtOnce, signals.crash]',
      '[finish(), signals.crash]',
    ],
  ),
  ...of('program/serve/token-set.ts', 'program/serve/token-set', [
    'the last day of a token includes no later moment',
    'Date.now() < endsAt',
    'Date.now() <= endsAt',
  ]),
  ...of('program/settings/command-line.ts', 'program/settings/settings', [
    'the value of an unknown option is not repeated',
    'else if (!isAfterUnknown) faults.add',
    'else faults.add',
  ]),
  ...of(
    'program/settings/setting-table.ts',
    'program/main',
    ['the password of a database is not shown', '/^[^:]*:\\/\\/(?:.*@)?/s', '/^[^:]*:\\/\\//s'],
    ['the parameters of a database URL are not shown', ".replace(/\\?.*$/s, '')", ''],
    ['a password that contains @ is not shown', '(?:.*@)?/s', '(?:.*?@)?/s'],
  ),
  ...of(
    'program/settings/setting-table.ts',
    'program/settings/settings',
    ['the server listens on loopback by default', "default: '127.0.0.1',", "default: '0.0.0.0',"],
    ['the database is plants.db by default', "default: 'sqlite:plants.db',", "default: 'memory:',"],
    ['tokens have no flag', 'isSecret: true,', ''],
  ),
  ...of('program/settings/settings.ts', 'program/settings/settings', [
    'a flag wins over its variable',
    'values.get(flag) ?? (isOverruled ? undefined : env[variable])',
    '(isOverruled ? undefined : env[variable]) ?? values.get(flag)',
  ]),
];
