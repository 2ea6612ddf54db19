import { err, ok, type Result } from 'neverthrow';
import { type CommandLine, readCommandLine } from '../settings/command-line.ts';
import { suggestion } from '../settings/nearest-name.ts';
import {
  defaultOf,
  flagOf,
  oneOf,
  type Parser,
  settingTable,
  toFlag,
  variableOf,
} from '../settings/setting-table.ts';
import {
  createFinder,
  type Environment,
  type GivenValue,
  parseValue,
} from '../settings/given-values.ts';
import { quoted, textFault } from '../settings/text.ts';
import { writeMessages } from '../settings/write-messages.ts';
import {
  type Command,
  type CommandOptions,
  type CommandResult,
  type CommandStreams,
  done,
  formatNames,
  invalid,
  type StoredDatabase,
} from './command.ts';

/**
 * Runs the command that the command line begins with.
 *
 * @returns the exit status: 0 done, 1 failed, 2 for an invalid command line, 3 if lines were refused
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

type OptionName = keyof Command['options'];

/** Parsers of the options of commands; an option without one has no value. `--database` is a setting. */
const optionParsers: Readonly<Record<OptionName, Parser<unknown> | undefined>> = {
  format: oneOf(...formatNames),
  strict: undefined,
  complete: undefined,
};
const optionNames = Object.keys(optionParsers) as OptionName[];

async function callCommand(
  [name = '', ...argv]: readonly string[],
  env: Environment,
  streams: CommandStreams,
): Promise<CommandResult> {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined) {
    const known = [...Object.keys(commands), '--help', '--version'];
    const advice =
      name === 'serve' ? 'without one, plantstore serves' : suggestion(name, known, '');
    return invalid(`unknown command ${quoted(name)}; ${advice}`);
  }

  const command = await load();
  const { argument } = command;
  const ownOptions = optionNames
    .filter((one) => one in command.options)
    .map((one) => [toFlag(one), { type: optionParsers[one] ? 'string' : 'boolean' }] as const);
  const commandLine = readCommandLine(
    argv,
    {
      [databaseFlag]: { type: 'string' },
      '--env-file': { type: 'string' },
      ...Object.fromEntries(ownOptions),
      '--help': { type: 'boolean', short: 'h' },
    },
    argument === '' ? 0 : 1,
  );
  const { values, positionals, faults } = commandLine;
  if (values.has('--help')) {
    streams.stdout.write(helpOf(name, command));
    return done;
  }
  const [file] = positionals;
  const fault = file && textFault(file);
  if (fault) faults.push(`the file name ${fault}, not ${quoted(file)}`);
  if (positionals.includes('') || (file === undefined && /^[A-Z]/.test(argument))) {
    faults.push(`${name} needs ${argument}, the path of a file`);
  }
  const options = readOptions(commandLine, env);
  return faults.length > 0 ? invalid(...faults) : command.run({ ...options, ...streams, file });
}

/** Parses the options of a command line, and adds what is wrong to the faults. */
function readOptions(commandLine: CommandLine, env: Environment) {
  const { values, faults } = commandLine;
  const options: Record<string, unknown> = {};
  for (const name of optionNames) {
    const parser = optionParsers[name];
    const flag = toFlag(name);
    const text = values.get(flag);
    if (parser === undefined) options[name] = text !== undefined;
    else if (text !== undefined) {
      const parsed = parseValue(parser, { text, source: flag });
      if (parsed.isOk()) options[name] = parsed.value;
      else faults.push(parsed.error);
    }
  }
  const database = readDatabase(commandLine, env);
  if (database.isOk()) options['database'] = database.value;
  else faults.push(database.error);
  // Complete if there are no faults.
  return options as CommandOptions;
}

const databaseFlag = flagOf('database') ?? '';

function readDatabase(commandLine: CommandLine, env: Environment): Result<StoredDatabase, string> {
  // It has a default.
  const given = createFinder(commandLine, env)('database') as GivenValue;
  const parsed = parseValue(settingTable.database.parser, given);
  if (parsed.isErr()) return err(parsed.error);
  return parsed.value.kind === 'memory'
    ? err(`${given.source} must be a database that outlives the process, not memory:`)
    : ok(parsed.value);
}

function helpOf(name: string, { argument, help, options }: Command): string {
  const usage = ['plantstore', name, argument, '[options]'].filter(Boolean).join(' ');
  const { placeholder } = settingTable.database.parser;
  const defaults = `default: ${variableOf('database')}, else ${defaultOf('database')}`;
  const ownLines = optionNames.map((one) => {
    const text = options[one];
    const words = [toFlag(one), optionParsers[one]?.placeholder].filter(Boolean).join(' ');
    return text === undefined ? '' : helpLine(words, text);
  });
  return `Usage: ${usage}

${help}

${helpLine(`${databaseFlag} ${placeholder}`, defaults)}${helpLine('--env-file FILE', 'file of environment variables, as for the server')}${ownLines.join('')}${helpLine('-h, --help', 'print this and exit')}
Exit status: 0 done, 1 failed, 2 for an invalid command line${name === 'import' ? ',\n3 if lines were refused' : ''}.
`;
}

function helpLine(flag: string, help: string): string {
  return `  ${flag}\n      ${help}\n`;
}
