import { isBearerToken } from '@plantstore/core/wire';
import { normalizeBasePath } from '../http/request-path.ts';
import { readCommandLine, type Written } from './command-line.ts';
import type { LogFormat } from './log.ts';
import { type SettingName, settingTable, tokensVariable } from './setting-table.ts';

/** Where plants are kept. */
export type DatabaseSetting =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** Where the accepted tokens come from. */
export type TokenSetting =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'given'; readonly tokens: readonly string[] }
  | { readonly kind: 'none' };

/** What the host runs with. */
export type Settings = {
  readonly host: string;
  readonly port: number;
  readonly basePath: string;
  readonly database: DatabaseSetting;
  readonly tokens: TokenSetting;
  readonly maxBodyBytes: number;
  /** `undefined` lets the output decide. */
  readonly log: LogFormat | undefined;
};

/** What the command line and the environment ask for. */
export type Invocation =
  | { readonly kind: 'run'; readonly settings: Settings }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'wrong'; readonly faults: readonly string[] };

type Environment = Readonly<Record<string, string | undefined>>;

const readNumber = (text: string, min: number, max: number): number | undefined => {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
};

const readDatabase = (text: string): DatabaseSetting | undefined => {
  if (text === 'memory:') return { kind: 'memory' };
  if (/^postgres(?:ql)?:\/\//.test(text)) return { kind: 'postgres', url: text };
  const path = /^sqlite:(?!\/\/|:memory:)(.+)$/s.exec(text)?.[1];
  return path === undefined ? undefined : { kind: 'sqlite', path };
};

const largestBodyLimit = 268_435_456;

/** Reads the settings from a command line (without the program's name) and an environment. */
export const readSettings = (argv: readonly string[], env: Environment): Invocation => {
  const { written, asksFor, faults: formFaults } = readCommandLine(argv);
  if (asksFor !== undefined) return { kind: asksFor };
  const faults = [...formFaults];

  const find = (name: SettingName): Written | undefined => {
    const { variable } = settingTable[name];
    const text = env[variable];
    return written.get(name) ?? (text === undefined ? undefined : { source: variable, text });
  };

  /** The value of a setting; a wrong one becomes a fault that says what is wanted. */
  const read = <T>(
    name: SettingName,
    fallback: T,
    wanted: string,
    parse: (text: string) => T | undefined,
  ): T => {
    const found = find(name);
    if (found === undefined) return fallback;
    const value = parse(found.text);
    if (value === undefined) faults.push(`${found.source} must be ${wanted}`);
    return value ?? fallback;
  };

  const readTokens = (): TokenSetting => {
    const file = find('tokensFile');
    const text = env[tokensVariable];
    if (file !== undefined) {
      if (file.text === '') faults.push(`${file.source} must be the path of a file`);
      if (text !== undefined && file.source === settingTable.tokensFile.variable) {
        faults.push(`${file.source} and ${tokensVariable} are both set; set one`);
      }
      return { kind: 'file', path: file.text };
    }
    if (text === undefined) return { kind: 'none' };
    const tokens = text.split(',').map((token) => token.trim());
    const wrong = tokens.flatMap((token, index) => (isBearerToken(token) ? [] : [index + 1]));
    if (wrong.length > 0) {
      faults.push(
        `${tokensVariable} must be bearer tokens, comma-separated: letters, digits and -._~+/, with = at the end only (not so: number ${wrong.join(', ')})`,
      );
    }
    return { kind: 'given', tokens };
  };

  const settings: Settings = {
    host: read('host', '127.0.0.1', 'a host name or an address', (text) => text || undefined),
    port: read('port', 3000, 'a whole number from 0 to 65535', (text) =>
      readNumber(text, 0, 65_535),
    ),
    basePath: read(
      'basePath',
      '',
      'a path that begins with a slash, without empty or dot segments, backslashes or a query',
      (text) => (normalizeBasePath(text) === undefined ? undefined : text),
    ),
    database: read<DatabaseSetting>(
      'database',
      { kind: 'sqlite', path: 'plants.db' },
      'sqlite: and the path of a file, postgres:// and where the database is, or memory:',
      readDatabase,
    ),
    tokens: readTokens(),
    maxBodyBytes: read(
      'maxBodyBytes',
      1_048_576,
      `a whole number of bytes from 1 to ${largestBodyLimit}`,
      (text) => readNumber(text, 1, largestBodyLimit),
    ),
    log: read<LogFormat | undefined>('log', undefined, 'json or pretty', (text) =>
      text === 'json' || text === 'pretty' ? text : undefined,
    ),
  };
  return faults.length > 0 ? { kind: 'wrong', faults } : { kind: 'run', settings };
};
