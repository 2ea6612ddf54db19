import { type CommandLineOptions, readCommandLine } from './command-line.ts';
import { createFinder, type Environment, type FindValue, parseValue } from './given-values.ts';
import { type HandedSockets, type Handover, nothingHanded } from './handed-sockets.ts';
import {
  defaultOf,
  flagOf,
  optionOf,
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

/** Reads the settings from a command line (without the program's name) and an environment. */
export function readSettings(
  argv: readonly string[],
  env: Environment,
  handover: Handover = nothingHanded,
): Invocation {
  const warnings = [...warningsOf(env), ...handover.warnings];
  const commandLine = readCommandLine(argv, options, 0);
  if (commandLine.isErr()) return { kind: 'invalid', faults: [commandLine.error], warnings };
  const { values } = commandLine.value;
  if (values['help'] === true) return { kind: 'help' };
  if (values['version'] === true) return { kind: 'version' };
  const find = createFinder(commandLine.value, env);
  if (find.isErr()) return { kind: 'invalid', faults: [find.error], warnings };

  const { settings, sources, faults } = parseAll(find.value);
  const { sockets } = handover;
  const all = [...faults, ...conflictsIn(settings, sources, sockets), ...handover.faults];
  warnings.push(...deadlineWarnings(settings));
  if (all.length > 0) return { kind: 'invalid', faults: all, warnings };
  const kind = values['check-settings'] === true ? 'check-settings' : 'run';
  // Complete without faults.
  const complete = settings as Settings;
  return {
    kind,
    settings: complete,
    sockets,
    warnings,
    text: settingsText(complete, sources),
  };
}

/** What to run, by the command line and the environment. */
export type Invocation =
  | StartInvocation
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | {
      readonly kind: 'invalid';
      readonly faults: readonly string[];
      readonly warnings: readonly string[];
    };

/** A start, or a check of what it would read. */
export type StartInvocation = {
  readonly kind: 'run' | 'check-settings';
  readonly settings: Settings;
  readonly sockets: HandedSockets;
  readonly warnings: readonly string[];
  /** Every setting with its source, without secrets. */
  readonly text: string;
};

/** All settings; `undefined` for one that is not set and has no default. */
export type Settings = {
  readonly [name in SettingName]: ValueOf<(typeof settingTable)[name]>;
};

type ValueOf<Row extends Setting> =
  | (Row['parser'] extends Parser<infer Value> ? Value : never)
  | (Row extends { default: unknown } ? never : undefined);

const options: CommandLineOptions = {
  ...Object.fromEntries(
    settingNames.flatMap((name) => optionOf(name) ?? []).map((name) => [name, { type: 'string' }]),
  ),
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
  'check-settings': { type: 'boolean' },
  'env-file': { type: 'string' },
};

/** Returns the variables that look like settings, and are none. */
export function unknownVariables(env: Environment): string[] {
  return Object.keys(env).filter((name) => {
    const visible = name.replaceAll(/[\s\p{C}]/gu, '');
    const isOurs = /^plantstore_/i.test(visible) && !serviceLink.test(name);
    return isOurs && !variables.includes(name);
  });
}

/** What Kubernetes sets in each pod for a service that is named plantstore. */
const serviceLink = /^PLANTSTORE_(?:SERVICE_(?:HOST|PORT)|PORT_\d+_(?:TCP|UDP|SCTP))(?:_|$)/;

function warningsOf(env: Environment): string[] {
  const unknown = unknownVariables(env).map(shown);
  return unknown.length === 0
    ? []
    : [`variables that are no settings: ${unknown.join(', ')}; see --help`];
}

/** The flag or the variable that a setting was set with. */
type Sources = { readonly [name in SettingName]?: string };

/** Parses every value. A setting with a fault is missing. */
function parseAll(find: FindValue) {
  const settings: { [name in SettingName]?: unknown } = {};
  const sources: { [name in SettingName]?: string } = {};
  const faults: string[] = [];
  for (const name of settingNames) {
    // A tokens file on the command line wins over tokens in the environment.
    const isOverruled = name === 'tokens' && sources.tokensFile === flagOf('tokensFile');
    const given = isOverruled ? undefined : find(name);
    if (given === undefined) continue;
    if (given.source !== 'default') sources[name] = given.source;
    const row: Setting = settingTable[name];
    parseValue(row.parser, given).match(
      (value) => void (settings[name] = value),
      (fault) => void faults.push(fault),
    );
  }
  return { settings: settings as Partial<Settings>, sources, faults };
}

/** Returns the conflicts between settings; an invalid setting has no value. */
function conflictsIn(
  settings: Partial<Settings>,
  sources: Sources,
  { plants, health }: HandedSockets,
): string[] {
  const { port, healthPort, database, metrics, reusePort } = settings;
  const { tokensFile, tokens, tlsCert, tlsKey } = sources;
  const opensBoth = plants === undefined && health === undefined;
  const isSamePort = healthPort !== undefined && healthPort === port && port !== 0;
  const hasNoHealth = 'healthPort' in settings && healthPort === undefined && health === undefined;
  const hasNoTokens = tokens === undefined && tokensFile === undefined;
  const share = `${sources.reusePort} needs`;
  const isShared = database === undefined || database.kind === 'postgres';
  const rules = [
    [tokensFile && tokens, `${tokensFile} and ${tokens} are both set; set one`],
    [
      !tlsCert !== !tlsKey,
      `${tlsCert ?? tlsKey} alone is not enough: set --tls-cert and --tls-key`,
    ],
    [opensBoth && isSamePort, `${sources.healthPort} must be another port than --port`],
    [metrics && hasNoHealth, `${sources.metrics} needs a port for /metrics: set --health-port`],
    [reusePort && !isShared, `${share} a database that processes can share, postgres://…`],
    [reusePort && hasNoTokens, `${share} tokens that all processes accept: ${tokensAdvice}`],
  ] as const;
  return rules.flatMap(([isWrong, message]) => (isWrong ? [message] : []));
}

const tokensAdvice = 'set --tokens-file or PLANTSTORE_TOKENS, or each generates its own';

/** Returns a warning of a stop that may end before the requests that it waits for. */
function deadlineWarnings({
  shutdownTimeoutMs = Infinity,
  handlerTimeoutMs = 0,
}: Partial<Settings>): string[] {
  return shutdownTimeoutMs >= handlerTimeoutMs
    ? []
    : ['--shutdown-timeout-ms is below --handler-timeout-ms: a stop can cut requests'];
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
