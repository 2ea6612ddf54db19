import { err, ok, Result } from 'neverthrow';
import { type CommandLineOptions, readCommandLine } from '../settings/command-line.ts';
import {
  createFinder,
  type Environment,
  type GivenValue,
  parseValue,
} from '../settings/given-values.ts';
import { defaultOf, flagOf, oneOf, settingTable, variableOf } from '../settings/setting-table.ts';
import { quoted, textFault } from '../settings/text.ts';
import { writeMessages } from '../settings/write-messages.ts';
import {
  type Command,
  type CommandResult,
  type CommandStreams,
  done,
  type FormatName,
  formatNames,
  invalid,
  type StoredDatabase,
} from './command.ts';

/**
 * Runs the command that the command line begins with.
 *
 * @returns the exit status: 0 done, 1 failed, 2 for an invalid command line, 3 if records were
 *   refused
 */
export async function runCommand(
  argv: readonly string[],
  env: Environment,
  streams: CommandStreams,
): Promise<number> {
  const { status, messages } = await callCommand(argv, env, streams);
  writeMessages(streams.stderr, messages);
  return status;
}

/** The commands by name. Each loads only what it needs, because most of a command is its start. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  backup: async () => (await import('./back-up.ts')).backUp,
  restore: async () => (await import('./restore.ts')).restore,
  export: async () => (await import('./export-plants.ts')).exportPlants,
  import: async () => (await import('./import-plants.ts')).importPlants,
  check: async () => (await import('./check.ts')).check,
};

async function callCommand(
  [name = '', ...argv]: readonly string[],
  env: Environment,
  streams: CommandStreams,
): Promise<CommandResult> {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined)
    return invalid(`unknown command ${quoted(name)}; without one, plantstore serves; see --help`);
  const command = await load();
  const commandLine = readCommandLine(argv, optionsOf(command), command.argument === '' ? 0 : 1);
  if (commandLine.isErr()) return invalid(commandLine.error);
  const { values, positionals } = commandLine.value;
  if (values['help'] === true) {
    streams.stdout.write(helpOf(name, command));
    return done;
  }
  const options = Result.combineWithAllErrors([
    readFile(name, command, positionals[0]),
    readFormat(values['format']),
    createFinder(commandLine.value, env).andThen(readDatabase),
  ]);
  if (options.isErr()) return invalid(...options.error);
  const [file, format, database] = options.value;
  const strict = values['strict'] === true;
  return command.run({ ...streams, database, file, format, strict });
}

function optionsOf({ options }: Command): CommandLineOptions {
  return {
    database: { type: 'string' },
    'env-file': { type: 'string' },
    help: { type: 'boolean', short: 'h' },
    ...(options.format !== undefined && { format: { type: 'string' } }),
    ...(options.strict !== undefined && { strict: { type: 'boolean' } }),
  };
}

function readFile(
  name: string,
  { argument }: Command,
  file: string | undefined,
): Result<string | undefined, string> {
  const isRequired = argument === 'TO' || argument === 'FROM';
  if (file === '' || (file === undefined && isRequired))
    return err(`${name} needs ${argument}, the path of a file`);
  const fault = file && textFault(file);
  return fault ? err(`the file name ${fault}, not ${quoted(file)}`) : ok(file);
}

const format = oneOf(...formatNames);

function readFormat(text: unknown): Result<FormatName | undefined, string> {
  if (typeof text !== 'string') return ok(undefined);
  return parseValue(format, { text, source: '--format' });
}

function readDatabase(find: (name: 'database') => GivenValue | undefined) {
  // It has a default.
  const given = find('database') as GivenValue;
  return parseValue(settingTable.database.parser, given).andThen(
    (database): Result<StoredDatabase, string> =>
      database.kind === 'memory'
        ? err(`${given.source} must be a database that outlives the process, not memory:`)
        : ok(database),
  );
}

function helpOf(name: string, { argument, help, options }: Command): string {
  const usage = ['plantstore', name, argument, '[options]'].filter(Boolean).join(' ');
  const { placeholder } = settingTable.database.parser;
  const defaults = `default: ${variableOf('database')}, else ${defaultOf('database')}`;
  const lines = [
    [`${flagOf('database')} ${placeholder}`, defaults],
    ['--env-file FILE', 'file of environment variables, as for the server'],
    [`--format ${format.placeholder}`, options.format],
    ['--strict', options.strict],
    ['-h, --help', 'print this and exit'],
  ].flatMap(([flag, text]) => (text === undefined ? [] : [`  ${flag}\n      ${text}\n`]));
  const refused = name === 'import' ? ',\n3 if lines were refused' : '';
  return `Usage: ${usage}

${help}

${lines.join('')}
Exit status: 0 done, 1 failed, 2 for an invalid command line${refused}.
`;
}
