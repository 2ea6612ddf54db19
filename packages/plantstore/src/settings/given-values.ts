import { readFileSync, statSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { err, ok, type Result } from 'neverthrow';
import type { CommandLine } from './command-line.ts';
import { suggestion } from './nearest-name.ts';
import {
  flagOf,
  type Parser,
  type Setting,
  type SettingName,
  settingTable,
  splitList,
  variableOf,
  variables,
} from './setting-table.ts';
import { quoted, shown, textFault } from './text.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A value as it was given, and with what: a flag, a variable, a variable in a file, or `default`. */
export type GivenValue = { readonly text: string; readonly source: string };

/**
 * Returns a function that finds the value of a setting. A flag takes precedence over a variable, and
 * a variable over the file of `--env-file`, whose faults are added to those of the command line.
 */
export function createFinder(
  { values, faults }: CommandLine,
  env: Environment,
): (name: SettingName) => GivenValue | undefined {
  const path = values.get('--env-file');
  const read = path === undefined ? ok({}) : readEnvFile(path);
  if (read.isErr()) faults.push(...read.error);
  const inFile: Environment = read.unwrapOr({});
  return (name) => {
    const row: Setting = settingTable[name];
    const [flag = '', variable] = [flagOf(name), variableOf(name)];
    const text = values.get(flag);
    if (text !== undefined) return { text, source: flag };
    // Compose passes a variable that is not set as an empty one.
    if (env[variable]) return { text: env[variable], source: variable };
    const source = `${variable} in ${shown(path ?? '')}`;
    if (inFile[variable]) return { text: inFile[variable], source };
    return 'default' in row ? { text: String(row.default), source: 'default' } : undefined;
  };
}

/** Parses a value. The error names its source, and the value unless that may be secret. */
export function parseValue<Value>(
  { parse, isList, maxShown = 12 }: Parser<Value>,
  { text, source }: GivenValue,
): Result<Value, string> {
  const isLong = text.length > maxShown && !/^\W*sqlite:/.test(text);
  const isHidden = isLong || /@|password/i.test(text);
  const shownText = isHidden ? '' : `, not ${quoted(text)}`;
  // Kubernetes and Docker set a variable to such a value for a service with its name.
  const found = /^(?:tcp|udp|sctp):\/\//.test(text)
    ? ', not a service link of Kubernetes: set enableServiceLinks: false in the pod, or rename the service'
    : shownText;
  const fault = textFault(...(isList ? splitList(text) : [text]));
  const parsed = fault === undefined ? parse(text) : err(fault);
  return parsed.mapErr((requirement) => `${source} ${requirement}${found}`);
}

/** A line whose value `parseEnv` returns: it cuts others at a `#`, and skips unreadable ones. */
const lineForm =
  /^(?!.*\r)[ \t]*(?:(?:export[ \t]+)?(?<assignment>(?<name>[\w.-]+)[ \t]*=(?:[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`|[^ \t"'`#][^#]*?))?))?[ \t]*(?:(?<=^|[ \t])#.*)?$/;

/** Reads the settings in a file of environment variables. The errors are all faults, without a value. */
function readEnvFile(path: string): Result<Environment, readonly string[]> {
  const fault = textFault(path);
  if (fault !== undefined) return err([`--env-file ${fault}, not ${quoted(path)}`]);
  const name = shown(path);
  let text;
  try {
    // Node reads it before the program does, so a pipe is empty here.
    if (!statSync(path).isFile()) return err([`--env-file must be a regular file, not ${name}`]);
    // The decoder drops a byte order mark.
    text = new TextDecoder().decode(readFileSync(path));
  } catch (thrown) {
    return err([`--env-file cannot be read: ${(thrown as Error).message}`]);
  }
  const lines = text.split(/\r?\n/).map((line) => lineForm.exec(line)?.groups);
  const faults = lines.flatMap((line, index) => lineFault(line, `in line ${index + 1} of ${name}`));
  if (faults.length > 0) return err(faults);
  return ok(Object.assign({}, ...lines.map((line) => parseEnv(line?.['assignment'] ?? ''))));
}

function lineFault(line: Partial<Record<string, string>> | undefined, at: string): string[] {
  if (line === undefined)
    return [`no variable can be read ${at}: write NAME=value or NAME='value'`];
  const { name } = line;
  if (name === undefined || variables.includes(name)) return [];
  const isOurs = /^plantstore_/i.test(name);
  const nearest = suggestion(isOurs ? name : `PLANTSTORE_${name}`, variables, 'PLANTSTORE_');
  // Another name may be a token.
  return [`unknown variable ${isOurs ? `${name} ` : ''}${at}; ${nearest}`];
}
