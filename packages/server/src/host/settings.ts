import { isBearerToken } from '@plantstore/core/wire';
import { isOrigin } from '../http/cors.ts';
import { basePathForm, normalizeBasePath } from '../http/request-path.ts';
import { digestOf } from '../accept-tokens.ts';
import type { LogFormat } from './log.ts';
import { createSettingReader, type Environment, type SettingReader } from './setting-reader.ts';
import { type NumberName, numberNames, settingTable, tokensVariable } from './setting-table.ts';

/** Where plants are kept. */
export type DatabaseSetting =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** Where the accepted tokens come from. */
export type TokenSetting =
  | { readonly kind: 'file'; readonly path: string }
  /** Only what is kept of them: a crash dump has the settings. */
  | { readonly kind: 'given'; readonly digests: readonly Buffer[] }
  | { readonly kind: 'none' };

/** Files of a certificate and its key. */
export type TlsSetting = { readonly certPath: string; readonly keyPath: string };

/** What the host runs with. */
export type Settings = Readonly<Record<NumberName, number>> & {
  readonly host: string;
  /** Whether other processes have the port, too. */
  readonly reusePort: boolean;
  readonly basePath: string;
  readonly database: DatabaseSetting;
  readonly tokens: TokenSetting;
  /** `undefined` serves HTTP without TLS. */
  readonly tls: TlsSetting | undefined;
  readonly corsOrigins: readonly string[];
  /** `undefined` has none. */
  readonly healthPort: number | undefined;
  /** `undefined` lets the output decide. */
  readonly log: LogFormat | undefined;
};

/** What the command line and the environment ask for. */
export type Invocation =
  | {
      readonly kind: 'run';
      readonly settings: Settings;
      /** What the operator should know, though the host can run. */
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'wrong'; readonly faults: readonly string[] };

const parseDatabase = (text: string): DatabaseSetting | undefined => {
  if (text === 'memory:') return { kind: 'memory' };
  if (/^postgres(?:ql)?:\/\//.test(text)) return { kind: 'postgres', url: text };
  const path = /^sqlite:(?!\/\/|:memory:)(.+)$/s.exec(text)?.[1];
  return path === undefined ? undefined : { kind: 'sqlite', path };
};

const parseOrigins = (text: string): readonly string[] | undefined => {
  const origins = text.split(',').map((origin) => origin.trim());
  return origins.every(isOrigin) ? origins : undefined;
};

const nonEmpty = (text: string): string | undefined => text || undefined;

const readTokens = ({ find, faults }: SettingReader, env: Environment): TokenSetting => {
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
  return { kind: 'given', digests: tokens.map(digestOf) };
};

const readTls = ({ find, read, faults }: SettingReader): TlsSetting | undefined => {
  const certPath = read('tlsCert', undefined, 'the path of a file', nonEmpty);
  const keyPath = read('tlsKey', undefined, 'the path of a file', nonEmpty);
  if (certPath !== undefined && keyPath !== undefined) return { certPath, keyPath };
  const [cert, key] = [find('tlsCert'), find('tlsKey')];
  if ((cert === undefined) !== (key === undefined)) {
    const { tlsCert, tlsKey } = settingTable;
    faults.push(
      `${(cert ?? key)?.source} alone is not enough: set ${tlsCert.flag} and ${tlsKey.flag}`,
    );
  }
  return undefined;
};

const readHealthPort = (reader: SettingReader, port: number): number | undefined => {
  const healthPort = reader.readNumber('healthPort', settingTable.healthPort.range, undefined);
  if (healthPort === port && port !== 0) {
    const { source } = reader.find('healthPort') ?? { source: settingTable.healthPort.flag };
    reader.faults.push(`${source} must be another port than ${settingTable.port.flag}`);
  }
  return healthPort;
};

/** Whether several processes would serve the same plants to the same clients. */
const checkReusePort = ({ find, faults }: SettingReader, settings: Settings): void => {
  if (!settings.reusePort) return;
  const { port, tokensFile, reusePort } = settingTable;
  const source = find('reusePort')?.source ?? reusePort.flag;
  const need = (what: string) => void faults.push(`${source} needs ${what}`);
  if (settings.database.kind !== 'postgres') {
    const why =
      settings.database.kind === 'sqlite'
        ? 'a SQLite file has one owner'
        : 'each process has a memory of its own';
    need(`a database that processes can share, postgres://…: ${why}`);
  }
  if (settings.port === 0) {
    need(`a port that all processes name: with ${port.flag} 0 each has its own`);
  }
  if (settings.tokens.kind === 'none') {
    need(
      `tokens that all processes accept: set ${tokensFile.flag} or ${tokensVariable}, or each makes up its own`,
    );
  }
};

const readNumbers = (reader: SettingReader): Record<NumberName, number> => {
  const numbers: Partial<Record<NumberName, number>> = {};
  for (const name of numberNames) {
    const { range } = settingTable[name];
    numbers[name] = reader.readNumber(name, range, range.default);
  }
  return numbers as Record<NumberName, number>;
};

/** Reads the settings from a command line (without the program's name) and an environment. */
export const readSettings = (argv: readonly string[], env: Environment): Invocation => {
  const reader = createSettingReader(argv, env);
  const { asksFor, read, faults } = reader;
  if (asksFor !== undefined) return { kind: asksFor };
  const numbers = readNumbers(reader);
  const settings: Settings = {
    ...numbers,
    host: read('host', '127.0.0.1', 'a host name or an address', nonEmpty),
    reusePort: read('reusePort', false, 'on or off', (text) =>
      text === 'on' ? true : text === 'off' ? false : undefined,
    ),
    basePath: read('basePath', '', basePathForm, (text) =>
      normalizeBasePath(text) === undefined ? undefined : text,
    ),
    database: read<DatabaseSetting>(
      'database',
      { kind: 'sqlite', path: 'plants.db' },
      'sqlite: and the path of a file, postgres:// and where the database is, or memory:',
      parseDatabase,
    ),
    tokens: readTokens(reader, env),
    tls: readTls(reader),
    corsOrigins: read<readonly string[]>(
      'corsOrigins',
      [],
      'origins such as https://garden.example, comma-separated, each in lower case and without a path',
      parseOrigins,
    ),
    healthPort: readHealthPort(reader, numbers.port),
    log: read<LogFormat | undefined>('log', undefined, 'json or pretty', (text) =>
      text === 'json' || text === 'pretty' ? text : undefined,
    ),
  };
  checkReusePort(reader, settings);
  const { warnings } = reader;
  return faults.length > 0
    ? { kind: 'wrong', faults: [...faults, ...warnings] }
    : { kind: 'run', settings, warnings };
};
