import { readCommandLine, type Written } from './command-line.ts';
import { nearestName } from './nearest-name.ts';
import { type SettingName, settingTable, tokensVariable } from './setting-table.ts';

/** Variables by their names, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Finds settings as they were written, and collects what is wrong with them. */
export type SettingReader = {
  readonly asksFor: 'help' | 'version' | undefined;
  readonly faults: string[];
  readonly warnings: readonly string[];
  /** What was written for a setting, if anything: a flag before a variable. */
  readonly find: (name: SettingName) => Written | undefined;
  /** The value of a setting; a wrong one becomes a fault that says what is wanted. */
  readonly read: <T>(
    name: SettingName,
    fallback: T,
    wanted: string,
    parse: (text: string) => T | undefined,
  ) => T;
  readonly readNumber: <T extends number | undefined>(
    name: SettingName,
    range: { readonly min: number; readonly max: number },
    fallback: T,
  ) => T | number;
};

const prefix = 'PLANTSTORE_';
const variables = [...Object.values(settingTable).map(({ variable }) => variable), tokensVariable];

// Foreign ones are no fault: Kubernetes sets some for a service of this name.
const nearestVariable = (name: string): string | undefined =>
  /^plantstore_[\w-]*$/i.test(name) && !variables.some((variable) => variable === name)
    ? nearestName(name, variables, prefix)
    : undefined;

/** Returns the names of variables that are no settings and close to one. */
export const misspeltVariables = (env: Environment): string[] =>
  Object.keys(env).filter((name) => nearestVariable(name) !== undefined);

const parseNumber = (text: string, min: number, max: number): number | undefined => {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
};

export const createSettingReader = (argv: readonly string[], env: Environment): SettingReader => {
  const { written, asksFor, faults: formFaults } = readCommandLine(argv);
  const faults = [...formFaults];

  const find: SettingReader['find'] = (name) => {
    const { variable } = settingTable[name];
    const text = env[variable];
    return written.get(name) ?? (text === undefined ? undefined : { source: variable, text });
  };

  const read: SettingReader['read'] = (name, fallback, wanted, parse) => {
    const found = find(name);
    if (found === undefined) return fallback;
    const value = parse(found.text);
    if (value === undefined) faults.push(`${found.source} must be ${wanted}`);
    return value ?? fallback;
  };

  return {
    asksFor,
    faults,
    warnings: misspeltVariables(env).map(
      (name) => `unknown variable ${name}; did you mean ${nearestVariable(name)}?`,
    ),
    find,
    read,
    readNumber: <T extends number | undefined>(
      name: SettingName,
      { min, max }: { readonly min: number; readonly max: number },
      fallback: T,
    ) =>
      read<T | number>(name, fallback, `a whole number from ${min} to ${max}`, (text) =>
        parseNumber(text, min, max),
      ),
  };
};
