import { mutationsIn } from './mutation.ts';

const of = mutationsIn('packages/server/src/program/commands');
const commandsTest = 'tests/black-box/commands';
const importTest = 'tests/black-box/import';
const postgresTest = 'tests/black-box/commands-postgres';

export const commands = [
  ...of(
    'back-up-and-restore.ts',
    commandsTest,
    [
      'a backup that fails has the exit status 1',
      'if (backedUp.isErr()) return failed(backedUp.error.message);',
      'if (backedUp.isErr()) return done;',
    ],
    [
      'a restore that fails has the exit status 1',
      'if (restored.isErr()) return failed(restored.error.message);',
      'if (restored.isErr()) return done;',
    ],
    [
      'a backup prints its number of plants',
      '${plantCount(plants)}, ${size} bytes, checked',
      '${size} bytes, checked',
    ],
    [
      'a restore creates the database, and not the backup',
      'restorePlants({ from, to: database.path })',
      'restorePlants({ from: database.path, to: from })',
    ],
  ),
  ...of(
    'check.ts',
    commandsTest,

    ['a check reports the size of the WAL', ', and ${walSize} in its WAL file', ''],
  ),
  ...of(
    'check.ts',
    postgresTest,
    [
      'a check of PostgreSQL that cannot read fails',
      'return failed(readFailure(read.error.message, plants));',
      'return done;',
    ],
    ['a check of PostgreSQL counts the plants', '    plants += read.value.length;\n', ''],
  ),
  ...of(
    'export-plants.ts',
    commandsTest,
    [
      'an export to a full disk fails',
      '      if (error) reject(error);',
      '      if (error) settle();',
    ],
    [
      'an export that cannot read fails',
      'if (read.isErr()) return failed(readFailure(read.error.message, exported));',
      'if (read.isErr()) break;',
    ],

    ['an export writes CSV with its header', 'let text = format.header;', "let text = '';"],
    [
      'an export writes the last plants',
      '      await write(stdout, text);\n      return done;',
      '      return done;',
    ],
    [
      'an export says how many plants it wrote',
      'if (result === done) progress.writeLine(',
      'if (result !== done) progress.writeLine(',
    ],
    ['an export writes each plant once', "        text = '';\n", ''],
    [
      'an export says why standard output cannot be written',
      '`cannot write to standard output: ${fileErrorReason(thrown)}`',
      "'cannot write to standard output'",
    ],
  ),
  ...of(
    'formats.ts',
    'formats',
    ['a carriage return in CSV is quoted', String.raw`/[",\r\n]/`, String.raw`/[",\n]/`],
    ['a line feed in CSV is quoted', String.raw`/[",\r\n]/`, String.raw`/[",\r]/`],
    ['a comma in CSV is quoted', String.raw`/[",\r\n]/`, String.raw`/["\r\n]/`],
    ['a quote in CSV is quoted', String.raw`/[",\r\n]/`, String.raw`/[,\r\n]/`],
    ['a quote in a quoted field is doubled', `text.replaceAll('"', '""')`, 'text'],
    ['an empty tag is not an absent one', "text === '' || ", ''],
    ['records of CSV end with CR LF', String.raw`quote(tag)}\r\n`, String.raw`quote(tag)}\n`],
    ['ids of CSV are exact', String.raw`/^-?\d{1,15}$/`, String.raw`/^-?\d{1,19}$/`],
    ['a huge id of CSV is refused in a short time', 'digits.slice(0, 20)', 'digits.slice(0, 18)'],
    ['no digit of an id is dropped', 'digits.slice(0, 20)', 'digits.slice(0, 19)'],
  ),
  ...of('formats.ts', importTest, [
    'the message of a record does not speak of a body',
    ".replace('the body', 'the record')",
    '',
  ]),
  ...of('read-csv.ts', 'read-csv', [
    'a record of CSV that is not UTF-8 is refused, and not changed',
    "  if (!isUtf8(bytes)) throw new Unreadable('it is not valid UTF-8');\n",
    '',
  ]),
  ...of(
    'import-plants.ts',
    importTest,
    [
      'a strict import starts no batch after a refused line',
      '    await creating;\n    if (!isStopped()) creating = create(batch);',
      '    await creating;\n    creating = create(batch);',
    ],
    [
      'a strict import sends no line after one that cannot be read',
      'const isLast = strict && line.decoded.isErr();',
      'const isLast = false;',
    ],
    [
      'refused lines have the exit status 3',
      'return counts.refused > 0 ? someRefused : done;',
      'return done;',
    ],
    ['refused lines are reported', 'progress.writeLine(`${nameOf(line)}: ${reason}`);', ''],
    [
      'the plants of the last batch are created',
      '    finish: async (): Promise<void> => {\n      await flush();',
      '    finish: async (): Promise<void> => {',
    ],
    ['a batch has a maximum number of plants', 'plants: 4_000,', 'plants: 40_000,'],
    [
      'a source that cannot be read creates no database',
      'if (first.done !== true && first.value.isErr()) return failed(first.value.error);',
      '',
    ],
    ['a source that cannot be read is named', 'cannot read ${file ?? ', 'cannot read ${'],
    [
      'a record of several lines is reported with its lines',
      'firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine} to ${lastLine}`',
      '`line ${firstLine}`',
    ],
  ),
  ...of('import-plants.ts', commandsTest, [
    'a database that cannot be opened fails the import',
    'if (store.isErr()) return failed(store.error);',
    'if (store.isErr()) return done;',
  ]),
  ...of(
    'run-command.ts',
    commandsTest,
    [
      'messages of a command are on standard error',
      '  writeMessages(streams.stderr, messages);\n',
      '',
    ],
    [
      'a command line with a fault runs nothing',
      'all.length > 0 ? invalid(...all) : command',
      'command',
    ],
    ['a missing argument is a fault', '(file === undefined && /^[A-Z]/.test(argument))', 'false'],
    [
      'memory: is no database of a command',
      "return parsed.value.kind === 'memory'",
      'return parsed.value.kind !== parsed.value.kind',
    ],
    [
      'a flag wins over the environment',
      "values.get(databaseFlag) ?? env[variableOf('database')]",
      "env[variableOf('database')] ?? values.get(databaseFlag)",
    ],
    [
      'an unknown command is a fault',
      'Object.hasOwn(commands, name) ? commands[name] : undefined',
      "commands[name] ?? commands['check']",
    ],
  ),
  ...of(
    'progress.ts',
    'progress',
    ['a progress line is written to a terminal only', 'stderr.isTTY !== true || ', ''],
    [
      'a progress line is cleared before other lines',
      '    writeLine(line) {\n      clear();\n',
      '    writeLine(line) {\n',
    ],
  ),
  ...of('import-plants.ts', importTest, [
    'an import goes on after a refused line',
    'failure !== undefined || (strict && counts.refused > 0)',
    'failure !== undefined || counts.refused > 0',
  ]),
  ...of(
    'import-plants.ts',
    importTest,
    ['an import closes its database', '        await store.value.close();\n', ''],
    ['the warnings of the database are written', '        log.flush();\n', ''],
    [
      'an import names the first line that it could not create',
      'if (!isStopped()) failure =',
      'failure =',
    ],
    [
      'a strict import ends although standard input is open',
      '    if (imported.isStopped()) break;\n',
      '',
    ],
  ),
  ...of('check.ts', 'tests/black-box/commands-files', [
    'a database that cannot be checked has the exit status 1',
    'if (checked.isErr()) return failed(checked.error.message);',
    'if (checked.isErr()) return done;',
  ]),
  ...of('run-command.ts', commandsTest, [
    'the help of import names the exit status 3',
    "name === 'import' ? ',\\n3 if lines were refused' : ''",
    "''",
  ]),
  ...of(
    'back-up-and-restore.ts',
    postgresTest,
    [
      'a backup of PostgreSQL names pg_dump',
      "invalidFor(database.kind, 'backup')",
      "invalidFor(database.kind, 'restore')",
    ],
    [
      'a restore of PostgreSQL names pg_restore',
      "invalidFor(database.kind, 'restore')",
      "invalidFor(database.kind, 'backup')",
    ],
  ),
];
