import { type CommandLineOptions, readCommandLine } from './command-line.ts';
import { createFinder, type Environment, parseValue } from './given-values.ts';
import { type HandedSockets, type Handover, nothingHanded } from './handed-sockets.ts';
import { nearestName } from './nearest-name.ts';
import {
  type DatabaseSetting,
  defaultOf,
  flagOf,
  type Parser,
  type Setting,
  settingNames,
  type SettingName,
  settingTable,
  showSetting,
  variables,
  variableOf,
} from './setting-table.ts';
import { shown } from './text.ts';

type ValueOf<Row extends Setting> =
  | (Row['parser'] extends Parser<infer Value> ? Value : never)
  | (Row extends { default: unknown } ? never : undefined);

/** All settings; `undefined` for one that is not set and has no default. */
export type Settings = {
  readonly [name in SettingName]: ValueOf<(typeof settingTable)[name]>;
};

/** What to run, by the command line and the environment. */
export type Invocation =
  | {
      readonly kind: 'run' | 'check-settings';
      readonly settings: Settings;
      readonly sockets: HandedSockets;
      readonly warnings: readonly string[];
      /** Every setting with its source, without secrets. */
      readonly text: string;
    }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | {
      readonly kind: 'invalid';
      readonly faults: readonly string[];
      readonly warnings: readonly string[];
    };

/** Reads the settings from a command line (without the program's name) and an environment. */
export function readSettings(
  argv: readonly string[],
  env: Environment,
  handover: Handover = nothingHanded,
): Invocation {
  const commandLine = readCommandLine(argv, options, 0);
  const { values, faults } = commandLine;
  if (values.has('--help')) return { kind: 'help' };
  if (values.has('--version')) return { kind: 'version' };

  const sources: { [name in SettingName]?: string } = {};
  const parsedValues: { [name in SettingName]?: unknown } = {};
  const find = createFinder(commandLine, env);
  for (const name of settingNames) {
    const row: Setting = settingTable[name];
    // A tokens file on the command line wins over tokens in the environment.
    const isOverruled = name === 'tokens' && sources.tokensFile === flagOf('tokensFile');
    const given = isOverruled ? undefined : find(name);
    if (given === undefined) continue;
    if (given.source !== 'default') sources[name] = given.source;
    const parsed = parseValue(row.parser, given);
    if (parsed.isOk()) parsedValues[name] = parsed.value;
    else faults.push(parsed.error);
  }
  // Complete if there are no faults.
  const settings = parsedValues as Settings;
  const { sockets } = handover;
  faults.push(...conflictsIn(settings, sources, sockets), ...handover.faults);
  const misspelt = misspeltVariables(env).map(
    (name) => `unknown variable ${shown(name)}; did you mean ${nearestVariable(name)}?`,
  );
  const warnings = [...misspelt, ...replacedBy(sockets, sources), ...handover.warnings];
  if (faults.length > 0) return { kind: 'invalid', faults, warnings };
  const kind = values.has('--check-settings') ? 'check-settings' : 'run';
  return { kind, settings, sockets, warnings, text: settingsText(settings, sources) };
}

const options: CommandLineOptions = {
  ...Object.fromEntries(
    settingNames.flatMap((name) => flagOf(name) ?? []).map((flag) => [flag, { type: 'string' }]),
  ),
  '--help': { type: 'boolean', short: 'h' },
  '--version': { type: 'boolean', short: 'v' },
  '--check-settings': { type: 'boolean' },
  '--env-file': { type: 'string' },
};

/** The flag or the variable that a setting was set with. */
type Sources = { readonly [name in SettingName]?: string };

/** Why processes cannot share a database; `undefined` for one that they can. */
const sharingFaults: Readonly<Record<DatabaseSetting['kind'], string | undefined>> = {
  memory: 'each process has its own memory',
  sqlite: 'a SQLite file has one owner',
  postgres: undefined,
};

/** Returns the conflicts between settings; an invalid setting has no value. */
function conflictsIn(
  settings: Partial<Settings>,
  sources: Sources,
  sockets: HandedSockets,
): string[] {
  const { port, healthPort, database, reusePort, metrics } = settings;
  const conflicts: string[] = [];
  if (sources.tokensFile !== undefined && sources.tokens !== undefined) {
    conflicts.push(`${sources.tokensFile} and ${sources.tokens} are both set; set one`);
  }
  const { tlsCert, tlsKey } = sources;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    conflicts.push(`${tlsCert ?? tlsKey} alone is not enough: set --tls-cert and --tls-key`);
  }
  if (sources.corsAllowedHeaders !== undefined && sources.corsOrigins === undefined) {
    conflicts.push(`${sources.corsAllowedHeaders} alone has no effect: set --cors-origins`);
  }
  const isHanded = sockets.plants !== undefined || sockets.health !== undefined;
  if (healthPort !== undefined && healthPort === port && port !== 0 && !isHanded) {
    conflicts.push(`${sources.healthPort} must be another port than --port`);
  }
  const isHealthOff = 'healthPort' in settings && healthPort === undefined;
  if (metrics === true && isHealthOff && sockets.health === undefined) {
    conflicts.push(`${sources.metrics} needs a port for /metrics: set --health-port`);
  }
  if (reusePort !== true) return conflicts;
  const need = (what: string) => void conflicts.push(`${sources.reusePort} needs ${what}`);
  const fault = database && sharingFaults[database.kind];
  if (fault !== undefined) need(`a database that processes can share, postgres://…: ${fault}`);
  if (port === 0) need('one port for all processes: with --port 0 each has its own');
  if (sources.tokens === undefined && sources.tokensFile === undefined) {
    need(
      'tokens that all processes accept: set --tokens-file or PLANTSTORE_TOKENS, or each generates its own',
    );
  }
  return conflicts;
}

/** Returns warnings of the settings that a handed-over socket replaces. */
function replacedBy(sockets: HandedSockets, sources: Sources): string[] {
  const replaced: SettingName[] = [];
  if (sockets.plants !== undefined) {
    // The server opens the health port on the same host.
    const isHostUsed = sources.healthPort !== undefined && sockets.health === undefined;
    replaced.push(...(isHostUsed ? [] : (['host'] as const)), 'port', 'reusePort');
  }
  if (sockets.health !== undefined) replaced.push('healthPort');
  return replaced.flatMap((name) =>
    sources[name] === undefined
      ? []
      : [`${sources[name]} has no effect: the socket is handed over (LISTEN_FDS)`],
  );
}

function settingsText(settings: Settings, sources: Sources): string {
  return settingNames
    .map((name) => {
      const value = settings[name];
      const isIgnored = name === 'tokens' && sources.tokensFile !== undefined;
      const isDefault = sources[name] === undefined || value === undefined;
      const given = isDefault ? defaultOf(name) : showSetting(name, value);
      const text = isIgnored ? 'ignored: --tokens-file is set' : given;
      const title = (flagOf(name) ?? variableOf(name)).padEnd(26);
      return `${title}${(sources[name] ?? 'default').padEnd(32)}  ${text}\n`;
    })
    .join('');
}

/** Returns the variables that are misspelt settings. Kubernetes, for example, sets others. */
export function misspeltVariables(env: Environment): string[] {
  return Object.keys(env).filter((name) => nearestVariable(name) !== undefined);
}

function nearestVariable(name: string): string | undefined {
  const visible = name.replaceAll(/[\s\p{C}]/gu, '');
  return /^plantstore_[\w-]*$/i.test(visible) && !variables.includes(name)
    ? nearestName(visible, variables, 'PLANTSTORE_')
    : undefined;
}

/** What `--help` prints, in lines of at most 80 characters. */
export const helpText = `Usage: plantstore [settings]
       plantstore COMMAND --help

Serves POST {base}/plants. A flag wins over its environment variable.
Times are in milliseconds.

Commands:
  backup    copy a SQLite database to a file, while the server runs or not
  restore   create a SQLite database from a backup
  export    write the plants as lines of JSON or CSV
  import    create the plants of such lines
  check     count and read every plant, and check a SQLite file

Settings:
${settingNames.map(helpOf).join('')}
  --env-file FILE
      read environment variables for settings from FILE, one NAME=value a line;
      a variable of the environment wins
  --check-settings
      print the settings with their sources, and read what a start would read
      before it opens its database and its ports; exit with 0 if that succeeds
  -h, --help
      print this and exit
  -v, --version
      print the version and exit

SIGTERM stops it gracefully. It rereads the tokens file, the certificate and its
key when they change, and on SIGHUP. It serves a socket that systemd hands over.
Exit status: 0 after a graceful stop, 2 for invalid settings, 1 otherwise.
`;

function helpOf(name: SettingName): string {
  const { parser, help } = settingTable[name];
  const [flag, variable] = [flagOf(name), variableOf(name)];
  const title = flag === undefined ? variable : `${flag} ${parser.placeholder}`;
  const from = flag === undefined ? '' : `${variable}; `;
  const lines = [...help.split('\n'), `${from}default: ${defaultOf(name)}`];
  return `  ${title}\n${lines.map((line) => `      ${line}\n`).join('')}`;
}
