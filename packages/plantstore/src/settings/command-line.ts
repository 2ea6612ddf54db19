import { parseArgs, type ParseArgsConfig } from 'node:util';
import { err, ok, type Result } from 'neverthrow';
import { quoted } from './text.ts';

/**
 * Parses a command line without the program's name. The error is the first fault of its form.
 *
 * @param maxArguments - number of arguments that are not options
 */
export function readCommandLine(
  argv: readonly string[],
  options: CommandLineOptions,
  maxArguments: number,
): Result<CommandLine, string> {
  try {
    const args = [...argv];
    const parsed = parseArgs({ args, options, allowPositionals: true, tokens: true });
    const more = parsed.positionals[maxArguments];
    if (more !== undefined) return err(`unexpected argument ${quoted(more)}; see --help`);
    const names = parsed.tokens.map((token) => (token.kind === 'option' ? token.rawName : ''));
    // The last one would win without a word.
    const repeated = names.find((name, index) => name !== '' && names.indexOf(name) < index);
    return repeated === undefined ? ok(parsed) : err(`${repeated} is given twice; set it once`);
  } catch (thrown) {
    // The rest of the text explains "--".
    const [fault = ''] = (thrown as Error).message.split(/\. |\.?\n/);
    return err(`${fault}; see --help`);
  }
}

/** Options by name, such as `max-body-bytes`. */
export type CommandLineOptions = NonNullable<ParseArgsConfig['options']>;

/** A parsed command line. The value of an option is text, or `true` if it takes none. */
export type CommandLine = {
  readonly values: Readonly<Record<string, unknown>>;
  readonly positionals: readonly string[];
};
