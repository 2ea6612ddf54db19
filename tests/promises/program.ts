import { mutationsIn } from './mutation.ts';

const of = mutationsIn('packages/server/src/program');
const mainTest = 'packages/server/src/main';
const crashTest = 'tests/black-box/crash';
const shutdownTest = 'tests/black-box/shutdown';
const rotationTest = 'tests/black-box/rotation';
const importTest = 'tests/black-box/import';
const wrongTest = 'tests/black-box/wrong-settings';

export const program = [
  ...of(
    'log.ts',
    'log',
    [
      'control characters of a client do not reach a terminal',
      'return stringify(value).replace(otherControls, escape);',
      'return stringify(value);',
    ],
    ['C1 controls are escaped', String.raw`\u007f-\u009f`, String.raw`\u007f`],
    ['line separators are escaped', String.raw`\u2028\u2029`, ''],
    ['only plain words have no quotes', String.raw`/^[\w./:%+-]+$/`, '/^[^ ]+$/'],
    [
      'the memory of the log is bounded',
      'output.waiting() + bufferedLength > maxBufferedBytes',
      'false',
    ],
    [
      'dropped lines are counted',
      "if (dropped > 0) append('warn', { dropped }, linesAreMissing, dropped);",
      '',
    ],
    ['a bigint is logged', "typeof value === 'bigint' ? String(value) : value", 'value'],
    [
      'a circular value is logged',
      'return JSON.stringify({ unprintable: inspect(value) });',
      "return 'null';",
    ],
    ['a line is written without a stop', 'if (buffered.length === 0) setImmediate(flush);', ''],
    [
      'an exception is logged with its stack',
      'value instanceof Error ? inspect(value)',
      'value instanceof Error ? value.message',
    ],
  ),
  ...of(
    'log.ts',
    'tests/black-box/lost-log-lines',
    ['no line is joined to half of another', '({ lineEnd } = loss);', ''],
    ['lost lines are counted', 'dropped += loss.missing;', ''],
  ),
  ...of(
    'log-output.ts',
    'tests/black-box/lost-log-lines',
    ['lines that a pipe loses are counted', 'error && onFailed(-1)', 'undefined'],
    [
      'lines that a full disk loses are counted',
      'if (written < bytes.byteLength) onFailed(written);',
      '',
    ],
  ),
  ...of(
    'pretty-line.ts',
    'log',
    ['a path of a client is cut', "cut(show(path ?? '-'), maxPathLength)", "show(path ?? '-')"],
    ['a request id of a client is cut', 'cut(show(one), maxWordLength)', 'show(one)'],
    [
      'a log that is no terminal has no colours',
      'isColored && as !== undefined',
      'as !== undefined',
    ],
    [
      'the lines of a cause have no control characters',
      "one === '' ? '' : show(one)",
      "one === '' ? '' : String(one)",
    ],
    [
      'a line names the client and the token',
      '...shown([client, tokenName, requestId])',
      '...shown([requestId])',
    ],
  ),
  ...of('open-store.ts', 'tests/black-box/full-disk', [
    'a stop says that plants are only in the WAL',
    'if (walLeft !== undefined) log.warn({ wal: walLeft }, walLeftMessage);',
    'void walLeft;',
  ]),
  ...of(
    'serve/run.ts',
    crashTest,
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
    'serve/run.ts',
    mainTest,
    ['the listeners are removed after a stop', '    signals.removeListeners();\n', ''],
    [
      'the last lines of the log are written',
      '    await Promise.race([written, signals.stopAtOnce, signals.crash]);\n',
      '',
    ],
    [
      'a graceful stop has the exit status 0',
      "      log.info({}, 'stopped');\n      return 0;",
      "      log.info({}, 'stopped');\n      return 1;",
    ],
    [
      'a log on a terminal is for people',
      "stdout.isTTY === true ? 'pretty' : 'json'",
      "stdout.isTTY === true ? 'json' : 'json'",
    ],
  ),
  ...of(
    'serve/run.ts',
    shutdownTest,
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
  ...of('serve/run.ts', 'tests/docs/log-messages', [
    'each log message is documented',
    "'stopped at once'",
    "'ended at once'",
  ]),
  ...of('serve/run.ts', 'tests/black-box/health', [
    'the server is not ready during a stop',
    '  readiness.stop();\n',
    '',
  ]),
  ...of('serve/run.ts', wrongTest, [
    'a warning follows the first line of the log',
    'for (const warning of warnings) log.warn({}, warning);',
    '',
  ]),
  ...of(
    'serve/signals.ts',
    mainTest,
    ['the first signal stops the server', "    stop.resolve('stop');\n", ''],
    ['a SIGHUP during the start is not lost', 'if (isHangUpMissed) task();', ''],
    ['SIGINT stops the server', "['SIGINT', onStop],", ''],
    [
      'every listener is removed',
      'for (const [name, listener] of listeners) process.off(name, listener);',
      '',
    ],
  ),
  ...of('serve/signals.ts', 'tests/black-box/ignored-signals', [
    'an ignored signal is logged',
    '...ignoredSignals.map((signal) => [signal, () => onIgnored(signal)] as const),',
    '',
  ]),
  ...of(
    'serve/ignored-signals.ts',
    'tests/black-box/ignored-signals',
    ['SIGUSR1 does not open the debugger', "'SIGUSR1', ", ''],
    ['SIGIO does not end the process', ", 'SIGIO'", ''],
  ),
  ...of('serve/signals.ts', shutdownTest, [
    'the second signal ends the process at once',
    "if (isStopping) stopAtOnce.resolve('at once');",
    '',
  ]),
  ...of(
    'serve/reload.ts',
    rotationTest,
    ['a SIGHUP replaces the tokens', '  tokens.replace(loaded.value);\n', ''],
    [
      'an invalid tokens file changes nothing',
      "    log.error({ reason }, 'the tokens could not be reread; the previous ones stay in use');\n    return;",
      "    log.error({ reason }, 'the tokens could not be reread; the previous ones stay in use');\n    tokens.replace([]);\n    return;",
    ],
    [
      'tokens of the environment are not replaced',
      'if (settings.tokensFile === undefined) {\n    const',
      'if (false) {\n    const',
    ],
  ),
  ...of(
    'serve/reload.ts',
    'tests/black-box/tls',
    ['a SIGHUP renews the certificate', '    await reloadTls(options);\n', ''],
    [
      'a certificate that cannot be used is reported',
      "log.error({ reason }, 'the certificate could not be reread; the previous one stays in use');",
      'void reason;',
    ],
  ),
  ...of(
    'serve/load-tls.ts',
    'tests/black-box/tls',
    [
      'a certificate and its key are checked',
      'return fault === undefined ? ok(tls) : cannotUse(fault.part, fault.why);',
      'return ok(tls);',
    ],
    [
      'the key that cannot be read is named',
      "if (key.isErr()) return cannotUse('key', key.error);",
      "if (key.isErr()) return cannotUse('cert', key.error);",
    ],
  ),
  ...of(
    'serve/token-set.ts',
    'serve/token-set',
    ['an expired token is rejected', 'Date.now() < endsAt', 'true'],
    [
      'the last day of a token includes no later moment',
      'Date.now() < endsAt',
      'Date.now() <= endsAt',
    ],
    [
      'a token that is not accepted is rejected',
      'decisions[index] ?? false',
      'decisions[index] ?? true',
    ],
    [
      'replaced tokens are rejected',
      '      current = authenticateAmong(others);',
      '      void others;',
    ],
    [
      'the log has the name of the token',
      'name === undefined ? true : { tokenName: name }',
      'true || name',
    ],
  ),
  ...of(
    'serve/parse-tokens.ts',
    'serve/load-tokens',
    [
      'a token is valid on its whole last day',
      'isDate ? start + dayMs : undefined',
      'isDate ? start : undefined',
    ],
    ['the 30th of February is no date', '.startsWith(date)', '.startsWith(date.slice(0, 4))'],
    ['a comment is no token', " || line.startsWith('#')", ''],
    [
      'a token of several lines with different names is refused',
      "if (isContradicted) return err('repeated');",
      '',
    ],
    [
      'a file without tokens is refused',
      "tokens.length === 0 ? err('has no token: write one per line') : ok(tokens)",
      'ok(tokens)',
    ],
    ['an invalid token is refused', '!isBearerToken(token)', 'false'],
    [
      'an invalid name is refused',
      "if (name !== undefined && !nameForm.test(name)) return err('name');",
      '',
    ],
    [
      'an invalid line is named',
      'invalid.get(fault) ?? []), index + 1',
      'invalid.get(fault) ?? []), index',
    ],
  ),
  ...of('serve/parse-tokens.ts', 'tests/black-box/tokens-in-memory', [
    'a name keeps no tokens in memory',
    'Buffer.from(text).toString()',
    'text',
  ]),
  ...of(
    'serve/read-setting-file.ts',
    'serve/load-tokens',
    ['a pipe does not block the start', '!status.isFile() && !status.isDirectory()', 'false'],
    ['a folder is named', "['EISDIR', 'is a folder'],", ''],
  ),
  ...of(
    'serve/generate-token.ts',
    'tests/black-box/first-run',
    ['the generated token is not logged, but printed', 'stderr.write(', 'process.stdout.write('],
    ['the generated token is accepted', '  tokens.replace([acceptedToken(token)]);\n', ''],
    ['the curl command sends JSON', "    `-H 'Content-Type: application/json'`,\n", ''],
  ),
  ...of('serve/generate-token.ts', 'tests/black-box/tls', [
    'the curl command accepts a self-signed certificate',
    "'-ik' : '-i'",
    "'-i' : '-i'",
  ]),
  ...of(
    'serve/loopback.ts',
    'serve/loopback',
    ['::1 is loopback', "loopback.addAddress('::1', 'ipv6');", ''],
    ['127.255.0.9 is loopback', "'127.0.0.0', 8", "'127.0.0.0', 24"],
  ),
  ...of(
    'serve/open-files.ts',
    'tests/black-box/open-files',
    ['a low limit of open files is warned of', 'limit === undefined || limit >= needed', 'true'],
    ['a limit that suffices is not warned of', 'limit >= needed', 'limit > needed'],
    ['the warning counts other open files', 'const otherFiles = 100;', 'const otherFiles = 0;'],
  ),
  ...of(
    'serve/health-server.ts',
    'serve/health-server',
    ['a slow probe is closed', '  server.timeout = probeTimeoutMs;\n', ''],
    ['the head of a probe has a timeout', '      headersTimeout: probeTimeoutMs,\n', ''],
    [
      'the health server has a limit of connections',
      '  server.maxConnections = maxConnections;\n',
      '',
    ],
    ['the head of a probe is bounded', '      maxHeaderSize: maxHeaderBytes,\n', ''],
    ['a health check is not cached', "    'Cache-Control': 'no-store',\n", ''],
    ['a health connection is closed', "    Connection: 'close',\n", ''],
    [
      'a failed check is 500, and the process goes on',
      "        sendStatus(response, 500, 'internal error');\n",
      '',
    ],
    [
      'the cause of a failed check is logged',
      "        parts.log.error({ cause: describeCause(thrown) }, 'a health check failed');\n",
      '',
    ],
    ['a server that is not ready has the status 503', 'ready ? 200 : 503', 'ready ? 200 : 200'],
    ['the health server ends its connections', '      server.closeAllConnections();\n', ''],
    [
      'other paths are not found',
      "path !== '/livez' && path !== '/readyz' && page === undefined",
      'path === undefined',
    ],
    [
      'other methods are not allowed',
      "request.method !== 'GET' && request.method !== 'HEAD'",
      'request.method === undefined',
    ],
    ['a probe may have a query', "request.url?.split('?', 1)[0]", 'request.url'],
  ),
  ...of(
    'serve/metrics.ts',
    'tests/black-box/metrics',
    ['requests are counted', '    requests.inc({ status, error });\n', ''],
    [
      'durations are in seconds',
      'requestDurations.observe(durationMs / 1_000);',
      'requestDurations.observe(durationMs);',
    ],
    ['commits are measured', '      commitPlants.observe(plants);\n', ''],
    [
      'the size of the WAL is measured',
      'if (store.walSize !== undefined) {',
      'if (store.walSize === undefined) {',
    ],
    ['the connections are measured', '() => server.usage().connections', '() => 0'],
    ['the requests in flight are measured', '() => server.usage().inFlight', '() => 0'],
  ),
  ...of('serve/metrics.ts', mainTest, [
    'the channel has no subscriber after a stop',
    '      unsubscribe(channelName, onEnd);\n',
    '',
  ]),
  ...of(
    'serve/readiness.ts',
    'serve/readiness',
    [
      'a check that hangs is not ready',
      '(await undefinedAfterTimeout(timeouts, current())) ?? timedOut',
      'await current()',
    ],
    [
      'a check takes at most a second',
      'const checkTimeoutMs = 1_000;',
      'const checkTimeoutMs = 2_000;',
    ],
    ['probes share a check', '    current ??= check()', '    current = check()'],
    [
      'a stop during a check is not ready',
      '      if (check === undefined) return false;\n      logChange',
      '      logChange',
    ],
    [
      'a check that rejects is not ready',
      "      .catch((cause: unknown) => unavailable('the check failed', cause))\n",
      '',
    ],
    ['a cause is logged without details', 'describeCause(cause) }', 'cause }'],
    ['each change is logged once', 'if (state.isOk() === wasAvailable) return;', ''],
  ),
  ...of(
    'settings/settings.ts',
    'settings/settings',
    [
      'a flag wins over its variable',
      'values.get(flag) ?? (isOverruled ? undefined : env[variable])',
      '(isOverruled ? undefined : env[variable]) ?? values.get(flag)',
    ],
    [
      'a tokens file on the command line wins',
      "name === 'tokens' && sources.tokensFile === flagOf('tokensFile')",
      'false',
    ],
    ['a certificate needs its key', '(tlsCert === undefined) !== (tlsKey === undefined)', 'false'],
    [
      'the health port is another port',
      'healthPort !== undefined && healthPort === port && port !== 0',
      'false',
    ],
    [
      'processes share no SQLite file',
      "sqlite: 'a SQLite file has one owner',",
      'sqlite: undefined,',
    ],
    [
      'every wrong setting is named at once',
      'else faults.push(`${sources[name]} must be ${parsed.error}`);',
      "else return { kind: 'invalid', faults: [`${sources[name]} must be ${parsed.error}`] };",
    ],
    ['a misspelt variable is a warning', 'faults: [...faults, ...warnings] };', 'faults };'],
  ),
  ...of('settings/settings.ts', 'tests/black-box/handed-sockets', [
    'each setting that a socket replaces is a warning',
    "'port', 'reusePort');",
    "'port');",
  ]),
  ...of('settings/settings.ts', mainTest, [
    'settings are shown with their sources',
    "(sources[name] ?? 'default').padEnd(34)",
    "''.padEnd(34)",
  ]),
  ...of(
    'settings/setting-table.ts',
    'settings/settings',
    ['the server listens on loopback by default', "default: '127.0.0.1',", "default: '0.0.0.0',"],
    ['the port is 3000 by default', 'default: 3_000,', 'default: 3_001,'],
    ['the database is plants.db by default', "default: 'sqlite:plants.db',", "default: 'memory:',"],
    ['a graceful stop takes at most 20 seconds', 'default: 20_000,', 'default: 200_000,'],
    [
      'a body has a maximum size',
      "wholeNumber('BYTES', 1, 268_435_456)",
      "wholeNumber('BYTES', 1, 268_435_457)",
    ],
    [
      'a time has a maximum',
      "wholeNumber('MS', 1, 86_400_000)",
      "wholeNumber('MS', 1, 864_000_000_000)",
    ],
    ['tokens have no flag', 'isSecret: true,', ''],
    ['a port is at most 65535', "wholeNumber('PORT', 0, 65_535)", "wholeNumber('PORT', 0, 65_536)"],
  ),
  ...of(
    'settings/setting-table.ts',
    mainTest,
    ['the password of a database is not shown', '/^[^:]*:\\/\\/(?:.*@)?/s', '/^[^:]*:\\/\\//s'],
    ['the parameters of a database URL are not shown', ".replace(/\\?.*$/s, '')", ''],
  ),
  ...of(
    'settings/command-line.ts',
    'settings/settings',
    [
      'the value of an unknown option is not repeated',
      'else if (!isAfterUnknown) faults.add',
      'else faults.add',
    ],
    [
      'a repeated flag is a fault',
      'else if (values.has(flag)) faults.add(`${flag} is given more than once`);',
      '',
    ],
    [
      'a flag without a value is a fault',
      "value === undefined || (!inlineValue && value.startsWith('--'))",
      'value === undefined',
    ],
  ),
  ...of(
    'settings/nearest-name.ts',
    'settings/nearest-name',
    ['a swap of two letters is one edit', 'isSwap && ', 'false && '],
    ['a name that is too different is not suggested', 'edits <= rest.length / 3 && ', ''],
  ),
  ...of(
    'serve/run.ts',
    mainTest,
    [
      'a second signal ends a start that hangs',
      'Promise.race([starting, signals.stopAtOnce, signals.crash]);',
      'starting;',
    ],
    ['the health server is closed', '    await health?.close();\n', ''],
  ),
  ...of('serve/run.ts', 'tests/black-box/health', [
    'a health port that is in use is an error',
    'if (opened.isErr()) return fail(opened.error);',
    'if (opened.isErr()) return 0;',
  ]),
  ...of(
    'serve/run.ts',
    wrongTest,
    ['a start that fails has the exit status 1', '    return status;', '    return 0;'],
    ['a start that fails says why', '    writeMessages(stderr, messages);\n', ''],
    [
      'a start that fails logs its warnings',
      '    logWarnings();\n    writeMessages',
      '    writeMessages',
    ],
  ),
  ...of(
    'serve/start-program.ts',
    'tests/black-box/tls',
    [
      'tokens without encryption are warned of',
      'if (settings.tlsCert !== undefined || isLoopback(host)) return;',
      'return;',
    ],
    ['there is no warning on loopback', ' || isLoopback(host)', ''],
  ),
  ...of('serve/start-program.ts', 'tests/black-box/first-run', [
    'the first line of the log names the URL',
    '{ url, database, pid: process.pid, ...health },',
    '{ database, pid: process.pid, ...health },',
  ]),
  ...of('serve/start-program.ts', rotationTest, [
    'expired tokens are warned of',
    '  warnOfExpiredTokens(loaded.tokens, log);\n',
    '',
  ]),
  ...of('serve/load-parts.ts', wrongTest, [
    'a port that is in use says which settings to change',
    '`--host, PLANTSTORE_HOST; --port, PLANTSTORE_PORT${sharing}`',
    "'the port'",
  ]),
  ...of(
    'serve/load-parts.ts',
    'tests/black-box/check-settings',
    [
      'all problems are reported together',
      'const results = [host, tls, tokens, prometheus];',
      'const results = [host, tls, tokens, prometheus].filter((result) => result.isErr()).slice(0, 1);',
    ],
    ['a host that does not resolve is reported', 'await lookup(host);', 'void lookup;'],
  ),
  ...of(
    'serve/check-settings.ts',
    'tests/black-box/check-settings',
    [
      '--check-settings checks the folder of the database',
      'const store = await checkStore(settings.database);',
      "const store = await checkStore({ kind: 'memory' });",
    ],
    [
      '--check-settings exits as the start would',
      'return failure?.status ?? (store.isErr() ? 1 : 0);',
      'return 0;',
    ],
  ),
  ...of(
    'settings/handed-sockets.ts',
    'settings/handed-sockets',
    [
      'sockets of another process are not used',
      'if (owner === String(pid)) return',
      'if (owner !== undefined) return',
    ],
    [
      'children do not inherit the variables',
      "for (const variable of ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES']) delete env[variable];",
      '',
    ],
    ['two sockets for plants are refused', 'if (sockets[part] !== undefined) {', 'if (false) {'],
    ['the first socket is descriptor 3', 'const firstFd = 3;', 'const firstFd = 4;'],
  ),
  ...of('serve/run.ts', 'tests/black-box/handed-sockets', [
    'a socket that is handed over and unusable has the exit status 2',
    'status: isHanded ? 2 : 1',
    'status: 1',
  ]),
  // The process.
  ...of(
    '../main.ts',
    mainTest,
    [
      'a crash dump contains no secret of the environment',
      'for (const variable of [...secretVariables, ...misspeltVariables(env)]) delete env[variable];',
      '',
    ],
    [
      'a misspelt variable may contain a secret',
      '[...secretVariables, ...misspeltVariables(env)]',
      'secretVariables',
    ],
    ['invalid settings have the exit status 2', '      return 2;', '      return 1;'],
    [
      'a crash dump of a command contains no secret of the environment',
      'for (const variable of secretVariables) delete env[variable];',
      '',
    ],
  ),
  ...of(
    'serve/run.ts',
    mainTest,
    [
      'an uncaught exception during a stop ends the process',
      'Promise.race([finish(), signals.stopAtOnce, signals.crash])',
      'Promise.race([finish(), signals.stopAtOnce])',
    ],
    [
      'an uncaught exception during the start ends the process',
      'Promise.race([starting, signals.stopAtOnce, signals.crash])',
      'Promise.race([starting, signals.stopAtOnce])',
    ],
    [
      'the health port is on the same host',
      'isHanded ? { fd } : { host, port',
      "isHanded ? { fd } : { host: '127.0.0.1', port",
    ],
  ),
  ...of('serve/reload.ts', 'serve/reload', [
    'a reload names the tokens that have expired',
    '  warnOfExpiredTokens(loaded.value, log);\n',
    '',
  ]),
  ...of('../bin.ts', 'tests/black-box/ignored-signals', [
    'a signal during the start does not end the process',
    'process.on(signal, () => {});',
    'void signal;',
  ]),
  ...of('../bin.ts', importTest, [
    'a folder as standard input is an error',
    'fstatSync(0).isDirectory() ?',
    'fstatSync(0).isSymbolicLink() ?',
  ]),
  ...of(
    'settings/setting-table.ts',
    mainTest,
    ['tokens are not shown', "if (isSecret) return 'set, not shown';", ''],
    ['a password that contains @ is not shown', '(?:.*@)?/s', '(?:.*?@)?/s'],
  ),
  ...of('serve/metrics.ts', 'tests/black-box/metrics', [
    'the state of the store is measured',
    'Number(await isReady())',
    '1',
  ]),
  ...of('serve/reload.ts', 'serve/reload', [
    'reloads run one after another',
    'last = last.then(reloadAll);',
    'last = reloadAll();',
  ]),
  ...of('../main.ts', 'tests/black-box/lost-log-lines', [
    'a pipe of the log that nothing reads does not stop the server',
    '[stdout, stderr]',
    '[stderr]',
  ]),
  ...of('../main.ts', importTest, [
    'messages that nothing reads do not stop a command',
    '[stdout, stderr]',
    '[stdout]',
  ]),
];
