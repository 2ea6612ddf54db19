import { parseArgs, type ParseArgsConfig } from 'node:util';
import { nearestName } from './nearest-name.ts';
import { type SettingName, settingTable } from './setting-table.ts';

/** A setting as it was written, and where. */
export type Written = { readonly source: string; readonly text: string };

/** What a command line says, and what is wrong with its form. */
export type CommandLine = {
  readonly written: ReadonlyMap<SettingName, Written>;
  readonly asksFor: 'help' | 'version' | undefined;
  readonly faults: readonly string[];
};

const names = Object.keys(settingTable) as SettingName[];
const flagNameOf = (name: SettingName): string => settingTable[name].flag.slice(2);

const options: NonNullable<ParseArgsConfig['options']> = {
  help: { type: 'boolean' },
  version: { type: 'boolean' },
};
for (const name of names) options[flagNameOf(name)] = { type: 'string' };

const flags = Object.keys(options).map((name) => `--${name}`);

const unknownOption = (name: string): string => {
  const nearest = nearestName(name, flags, '--');
  return `unknown option ${name}; ${nearest === undefined ? 'see --help' : `did you mean ${nearest}?`}`;
};

// It is not repeated: it may be a token in the wrong place.
const noFlag = (place: number): string =>
  `argument ${place} is not expected; settings begin with --`;

/** Reads a command line, without the program's name; every fault of form is told. */
export const readCommandLine = (argv: readonly string[]): CommandLine => {
  // Not strict: that would throw at the first fault, and all are to be told.
  const { tokens } = parseArgs({
    args: [...argv],
    options,
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  const faults: string[] = [];
  const written = new Map<SettingName, Written>();
  const asked = new Set<string>();
  const unknown = new Set<string>();
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'positional') {
      const before = tokens[index - 1];
      // The value of an unknown option is part of the same fault.
      const isValue =
        before?.kind === 'option' && before.value === undefined && unknown.has(before.rawName);
      if (!isValue) faults.push(noFlag(token.index + 1));
    }
    if (token.kind !== 'option') continue;
    const { rawName, value, inlineValue } = token;
    const name = names.find((one) => flagNameOf(one) === token.name);
    if (name === undefined && Object.hasOwn(options, token.name)) {
      asked.add(token.name);
    } else if (name === undefined) {
      if (!unknown.has(rawName)) faults.push(unknownOption(rawName));
      unknown.add(rawName);
    } else if (value === undefined || (!inlineValue && value.startsWith('--'))) {
      faults.push(`${rawName} needs a value`);
    } else if (written.has(name)) {
      faults.push(`${rawName} is given more than once`);
    } else {
      written.set(name, { source: rawName, text: value });
    }
  }
  const asksFor = asked.has('help') ? 'help' : asked.has('version') ? 'version' : undefined;
  return { written, asksFor, faults };
};
