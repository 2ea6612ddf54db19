import { parseArgs, type ParseArgsConfig } from 'node:util';
import { nearestName } from './nearest-name.ts';

/** Options and arguments that a command line may have. */
export type CommandLineSyntax = {
  /** Options with a value, as `--max-body-bytes`. */
  readonly flags: readonly string[];
  /** Options without a value, and their short forms, as `-h`. */
  readonly switches: Readonly<Record<string, string | undefined>>;
  /** Number of arguments that are not options. */
  readonly maxArguments: number;
};

/** A parsed command line, and all its syntax errors. */
export type CommandLine = {
  /** Values by flag; empty for an option without a value. */
  readonly values: ReadonlyMap<string, string>;
  readonly positionals: readonly string[];
  readonly faults: string[];
};

const unknownOption = (name: string, flags: readonly string[]): string => {
  const nearest = nearestName(name, flags, '--');
  return `unknown option ${name}; ${nearest === undefined ? 'see --help' : `did you mean ${nearest}?`}`;
};

/** Parses a command line without the program's name. */
export const readCommandLine = (
  argv: readonly string[],
  { flags, switches, maxArguments }: CommandLineSyntax,
): CommandLine => {
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const flag of flags) options[flag.slice(2)] = { type: 'string' };
  for (const [flag, short] of Object.entries(switches)) {
    options[flag.slice(2)] = { type: 'boolean', ...(short && { short: short.slice(1) }) };
  }
  const all = [...flags, ...Object.keys(switches)];
  // Strict mode throws at the first fault; all of them are reported.
  const { tokens } = parseArgs({
    args: [...argv],
    options,
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
      else if (!isAfterUnknown) faults.add(`unexpected argument "${token.value}"; see --help`);
    }
    if (token.kind !== 'option') continue;
    const { value, inlineValue } = token;
    const long = `--${token.name}`;
    const rawName = token.rawName === switches[long] ? long : token.rawName;
    isAfterUnknown = !all.includes(rawName);
    if (isAfterUnknown) faults.add(unknownOption(rawName, all));
    else if (Object.hasOwn(switches, rawName)) values.set(rawName, '');
    else if (value === undefined || (!inlineValue && value.startsWith('--'))) {
      faults.add(`${rawName} needs a value`);
    } else if (values.has(rawName)) faults.add(`${rawName} is given more than once`);
    else values.set(rawName, value);
  }
  return { values, positionals, faults: [...faults] };
};
