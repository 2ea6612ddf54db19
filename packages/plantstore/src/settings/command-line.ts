import { parseArgs, type ParseArgsConfig } from 'node:util';
import { suggestion } from './nearest-name.ts';
import { quoted, shown } from './text.ts';

/** Options by flag, such as `--max-body-bytes`. */
export type CommandLineOptions = NonNullable<ParseArgsConfig['options']>;

/** A parsed command line, and all its syntax errors. */
export type CommandLine = {
  /** Values by flag; empty for an option without a value. */
  readonly values: ReadonlyMap<string, string>;
  readonly positionals: readonly string[];
  readonly faults: string[];
};

/**
 * Parses a command line without the program's name.
 *
 * @param maxArguments - number of arguments that are not options
 */
export function readCommandLine(
  argv: readonly string[],
  options: CommandLineOptions,
  maxArguments: number,
): CommandLine {
  const named = Object.entries(options).map(([flag, option]) => [flag.slice(2), option] as const);
  // Strict mode throws at the first fault; all of them are reported.
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(named),
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  const values = new Map<string, string>();
  const positionals: string[] = [];
  const faults = new Set<string>();
  let isAfterUnknown = false;
  for (const token of tokens) {
    if (token.kind === 'positional') {
      if (positionals.length < maxArguments && !isAfterUnknown) positionals.push(token.value);
      // The value of an unknown option may be a token, so it is not repeated.
      else if (!isAfterUnknown)
        faults.add(`unexpected argument ${quoted(token.value)}; see --help`);
    }
    if (token.kind !== 'option') continue;
    const { value, inlineValue, rawName } = token;
    const flag = `--${token.name}`;
    const type = Object.hasOwn(options, flag) ? options[flag]?.type : undefined;
    isAfterUnknown = type === undefined;
    if (type === undefined) {
      faults.add(
        `unknown option ${shown(rawName)}; ${suggestion(rawName, Object.keys(options), '--')}`,
      );
    } else if (type === 'boolean') values.set(flag, '');
    else if (value === undefined || (!inlineValue && value.startsWith('--'))) {
      faults.add(`${flag} needs a value`);
    } else if (values.has(flag)) faults.add(`${flag} is given more than once`);
    else values.set(flag, value);
  }
  return { values, positionals, faults: [...faults] };
}
