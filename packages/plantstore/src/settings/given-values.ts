import { readFileSync, statSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { err, ok, type Result } from 'neverthrow';
import type { CommandLine } from './command-line.ts';
import {
  flagOf,
  optionOf,
  type Parser,
  type Setting,
  type SettingName,
  settingTable,
  splitList,
  variableOf,
  variables,
} from './setting-table.ts';
import { quoted, shown, textFault } from './text.ts';

/**
 * Returns a function that finds the value of a setting. A flag takes precedence over a variable,
 * and a variable over the file of `--env-file`. The error is a fault of that file.
 */
export function createFinder({ values }: CommandLine, env: Environment): Result<FindValue, string> {
  const path = values['env-file'] as string | undefined;
  const read = path === undefined ? ok({}) : readEnvFile(path);
  return read.map((inFile: Environment) => (name) => {
    const row: Setting = settingTable[name];
    const variable = variableOf(name);
    const text = values[optionOf(name) ?? ''] as string | undefined;
    if (text !== undefined) return { text, source: flagOf(name) ?? '' };
    // Compose passes a variable that is not set as an empty one.
    if (env[variable]) return { text: env[variable], source: variable };
    const source = `${variable} in ${shown(path ?? '')}`;
    if (inFile[variable]) return { text: inFile[variable], source };
    return 'default' in row ? { text: String(row.default), source: 'default' } : undefined;
  });
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** A value as it was given, and with what: a flag, a variable (in a file), or `default`. */
export type GivenValue = { readonly text: string; readonly source: string };

/** Returns the value of a setting; `undefined` if it is not set and has no default. */
export type FindValue = (name: SettingName) => GivenValue | undefined;

/** Parses a value. The error names its source, and the value unless that may be secret. */
export function parseValue<Value>(
  { parse, isList, maxShown = 12 }: Parser<Value>,
  { text, source }: GivenValue,
): Result<Value, string> {
  // A path, or what Kubernetes sets for a service, is no secret.
  const isLong = text.length > maxShown && !/^(?:\W*sqlite|tcp|udp|sctp):/.test(text);
  const isHidden = isLong || /@|password/i.test(text);
  const fault = textFault(...(isList ? splitList(text) : [text]));
  const parsed = fault === undefined ? parse(text) : err(fault);
  return parsed.mapErr((wrong) => `${source} ${wrong}${isHidden ? '' : `, not ${quoted(text)}`}`);
}

/** Reads a file of environment variables. The error contains no value. */
function readEnvFile(path: string): Result<Environment, string> {
  const fault = textFault(path);
  if (fault !== undefined) return err(`--env-file ${fault}, not ${quoted(path)}`);
  const name = shown(path);
  let text;
  try {
    // Node reads it before the program does, so a pipe is empty here.
    if (!statSync(path).isFile()) return err(`--env-file must be a regular file, not ${name}`);
    text = readFileSync(path, 'utf8');
  } catch (thrown) {
    return err(`--env-file cannot be read: ${(thrown as Error).message}`);
  }
  if (/^\ufeff|\0/.test(text)) return err(`${name} must be UTF-8 without a byte order mark`);
  const wrong = text.split(/\r?\n/).findIndex((line) => !lineForm.test(line));
  if (wrong !== -1)
    return err(`line ${wrong + 1} of ${name} must be NAME=value, or NAME='value' for one with a #`);
  const found = parseEnv(text);
  const unknown = Object.keys(found).find((one) => !variables.includes(one));
  return unknown === undefined ? ok(found) : err(`${name} has ${unknownVariable(unknown)}`);
}

/** A line of which `parseEnv` loses nothing: it cuts others at a `#`, or skips them. */
const lineForm =
  /^\s*(?:[^=#\s][^=#]*=\s*(?:"[^"]*"|'[^']*'|`[^`]*`|[^\s"'`#][^#\r]*)?)?\s*(?:(?<=^|\s)#.*)?$/;

function unknownVariable(name: string): string {
  if (/^PG[A-Z]+$/.test(name))
    return `${name}: set it in the environment, or name a pass file in PGPASSFILE there`;
  // Another name may be a token.
  const named = name.startsWith('PLANTSTORE_') ? `the unknown variable ${name}` : 'other variables';
  return `${named}; it may have settings only: see --help`;
}
