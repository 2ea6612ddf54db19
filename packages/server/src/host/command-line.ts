import { parseArgs, type ParseArgsConfig } from 'node:util';
import { nearestName } from './nearest-name.ts';

/** What may be on a command line. */
export type CommandLineForm = {
  /** Options with a value, as `--max-body-bytes`. */
  readonly flags: readonly string[];
  /** Options without a value, and their short forms, as `-h`. */
  readonly switches: Readonly<Record<string, string | undefined>>;
  /** Number of arguments that are not options. */
  readonly maxArguments: number;
};

/** What is on a command line, and everything that is wrong with its form. */
export type CommandLine = {
  /** Texts by flag; an empty one for an option without a value. */
  readonly written: ReadonlyMap<string, string>;
  readonly words: readonly string[];
  readonly faults: string[];
};

const unknownOption = (name: string, flags: readonly string[]): string => {
  const nearest = nearestName(name, flags, '--');
  return `unknown option ${name}; ${nearest === undefined ? 'see --help' : `did you mean ${nearest}?`}`;
};

/** Reads a command line without the program's name. */
export const readCommandLine = (
  argv: readonly string[],
  { flags, switches, maxArguments }: CommandLineForm,
): CommandLine => {
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const flag of flags) options[flag.slice(2)] = { type: 'string' };
  for (const [flag, short] of Object.entries(switches)) {
    options[flag.slice(2)] = { type: 'boolean', ...(short && { short: short.slice(1) }) };
  }
  const all = [...flags, ...Object.keys(switches)];
  // Not strict: that would throw at the first fault, and all are reported.
  const { tokens } = parseArgs({
    args: [...argv],
    options,
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  const written = new Map<string, string>();
  const words: string[] = [];
  const faults = new Set<string>();
  let isAfterUnknown = false;
  for (const token of tokens) {
    if (token.kind === 'positional') {
      if (words.length < maxArguments && !isAfterUnknown) words.push(token.value);
      // The value of an unknown option is part of the same fault, and may be a token.
      else if (!isAfterUnknown) faults.add(`unexpected argument "${token.value}"; see --help`);
    }
    if (token.kind !== 'option') continue;
    const { value, inlineValue } = token;
    const long = `--${token.name}`;
    const rawName = token.rawName === switches[long] ? long : token.rawName;
    isAfterUnknown = !all.includes(rawName);
    if (isAfterUnknown) faults.add(unknownOption(rawName, all));
    else if (Object.hasOwn(switches, rawName)) written.set(rawName, '');
    else if (value === undefined || (!inlineValue && value.startsWith('--'))) {
      faults.add(`${rawName} needs a value`);
    } else if (written.has(rawName)) faults.add(`${rawName} is given more than once`);
    else written.set(rawName, value);
  }
  return { written, words, faults: [...faults] };
};
