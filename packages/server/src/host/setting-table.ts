import { defaultLimits } from '../limits.ts';

/** One setting: a flag, the environment variable of the same meaning, and what help says of it. */
export type SettingRow = {
  readonly flag: string;
  readonly variable: string;
  readonly value: string;
  readonly help: string;
  /** Where it is a whole number; without a default, it is off. */
  readonly range?: { readonly min: number; readonly max: number; readonly default?: number };
};

const largestPort = 65_535;
/** More would not fit a timer (2^31 ms is 24 days). */
const aDay = 86_400_000;

const milliseconds = (byDefault: number) => ({ min: 1, max: aDay, default: byDefault });

/** Every setting of the host that has a value. */
export const settingTable = {
  host: {
    flag: '--host',
    variable: 'PLANTSTORE_HOST',
    value: 'ADDRESS',
    help: 'address to listen on (default 127.0.0.1)',
  },
  port: {
    flag: '--port',
    variable: 'PLANTSTORE_PORT',
    value: 'PORT',
    help: 'port to listen on, 0 for any free one',
    range: { min: 0, max: largestPort, default: 3_000 },
  },
  reusePort: {
    flag: '--reuse-port',
    variable: 'PLANTSTORE_REUSE_PORT',
    value: 'on|off',
    help: 'share the port with other such processes (default off)',
  },
  basePath: {
    flag: '--base-path',
    variable: 'PLANTSTORE_BASE_PATH',
    value: 'PATH',
    help: 'what comes before /plants (default none)',
  },
  database: {
    flag: '--database',
    variable: 'PLANTSTORE_DATABASE',
    value: 'DATABASE',
    help: 'sqlite:FILE, postgres://… or memory: (default sqlite:plants.db)',
  },
  tokensFile: {
    flag: '--tokens-file',
    variable: 'PLANTSTORE_TOKENS_FILE',
    value: 'FILE',
    help: 'file of accepted bearer tokens, one a line; read again on SIGHUP',
  },
  tlsCert: {
    flag: '--tls-cert',
    variable: 'PLANTSTORE_TLS_CERT',
    value: 'FILE',
    help: 'certificate chain in PEM, for HTTPS; read again on SIGHUP',
  },
  tlsKey: {
    flag: '--tls-key',
    variable: 'PLANTSTORE_TLS_KEY',
    value: 'FILE',
    help: 'its private key in PEM; read again on SIGHUP',
  },
  corsOrigins: {
    flag: '--cors-origins',
    variable: 'PLANTSTORE_CORS_ORIGINS',
    value: 'ORIGINS',
    help: 'origins whose pages may call, comma-separated (default none)',
  },
  healthPort: {
    flag: '--health-port',
    variable: 'PLANTSTORE_HEALTH_PORT',
    value: 'PORT',
    help: 'port of /livez and /readyz, 0 for any free one (default off)',
    range: { min: 0, max: largestPort },
  },
  maxBodyBytes: {
    flag: '--max-body-bytes',
    variable: 'PLANTSTORE_MAX_BODY_BYTES',
    value: 'BYTES',
    help: 'largest request body',
    range: { min: 1, max: 268_435_456, default: defaultLimits.maxBodyBytes },
  },
  maxInFlight: {
    flag: '--max-in-flight',
    variable: 'PLANTSTORE_MAX_IN_FLIGHT',
    value: 'REQUESTS',
    help: 'requests in the works at a time; one more gets 503',
    range: { min: 1, max: 1_000_000, default: defaultLimits.maxInFlight },
  },
  maxConnections: {
    flag: '--max-connections',
    variable: 'PLANTSTORE_MAX_CONNECTIONS',
    value: 'CONNECTIONS',
    help: 'connections at a time; one more is closed',
    range: { min: 1, max: 1_000_000, default: defaultLimits.maxConnections },
  },
  headersTimeoutMs: {
    flag: '--headers-timeout-ms',
    variable: 'PLANTSTORE_HEADERS_TIMEOUT_MS',
    value: 'MS',
    help: 'for the head of a request to arrive',
    range: milliseconds(defaultLimits.headersTimeoutMs),
  },
  requestTimeoutMs: {
    flag: '--request-timeout-ms',
    variable: 'PLANTSTORE_REQUEST_TIMEOUT_MS',
    value: 'MS',
    help: 'for a whole request to arrive',
    range: milliseconds(defaultLimits.requestTimeoutMs),
  },
  keepAliveTimeoutMs: {
    flag: '--keep-alive-timeout-ms',
    variable: 'PLANTSTORE_KEEP_ALIVE_TIMEOUT_MS',
    value: 'MS',
    help: 'for the next request on a connection',
    range: milliseconds(defaultLimits.keepAliveTimeoutMs),
  },
  handlerTimeoutMs: {
    flag: '--handler-timeout-ms',
    variable: 'PLANTSTORE_HANDLER_TIMEOUT_MS',
    value: 'MS',
    help: 'for the store to answer; then 503',
    range: milliseconds(defaultLimits.handlerTimeoutMs),
  },
  shutdownTimeoutMs: {
    flag: '--shutdown-timeout-ms',
    variable: 'PLANTSTORE_SHUTDOWN_TIMEOUT_MS',
    value: 'MS',
    help: 'for requests in flight when it is asked to stop',
    range: milliseconds(20_000),
  },
  log: {
    flag: '--log',
    variable: 'PLANTSTORE_LOG',
    value: 'FORMAT',
    help: 'json or pretty (default pretty on a terminal, else json)',
  },
} as const satisfies Record<string, SettingRow>;

/** The settings, by the name that the host has for them. */
export type SettingName = keyof typeof settingTable;

/** Those that are whole numbers and have a default. */
export type NumberName = {
  [name in SettingName]: (typeof settingTable)[name] extends { range: { default: number } }
    ? name
    : never;
}[SettingName];

const hasDefault = (name: SettingName): name is NumberName => {
  const { range }: SettingRow = settingTable[name];
  return range?.default !== undefined;
};

export const numberNames = (Object.keys(settingTable) as SettingName[]).filter(hasDefault);

/** Tokens in the environment, comma-separated; there is no flag, for flags show in process lists. */
export const tokensVariable = 'PLANTSTORE_TOKENS';

/** How messages name settings: each by its flag and its variable. */
export const namesOf = (...settings: readonly Pick<SettingRow, 'flag' | 'variable'>[]): string =>
  settings.map(({ flag, variable }) => `${flag}, ${variable}`).join('; ');

const helpLine = ({ flag, variable, value, help, range }: SettingRow): string => {
  const byDefault = range?.default === undefined ? '' : ` (default ${range.default})`;
  const head = `  ${flag} ${value}`.padEnd(33);
  return `${head} ${help}${byDefault}\n${' '.repeat(34)}${variable}\n`;
};

/** What `--help` prints. */
export const helpText = `Usage: plantstore-server [settings]

Serves POST {base}/plants. A flag wins over its environment variable.

${Object.values<SettingRow>(settingTable).map(helpLine).join('')}
${`  ${tokensVariable}`.padEnd(33)} accepted bearer tokens, comma-separated; without these
${' '.repeat(34)}and without a tokens file, one is made up for the run
${'  --help'.padEnd(33)} print this and exit
${'  --version'.padEnd(33)} print the version and exit

SIGTERM stops it gracefully, SIGHUP has it read the tokens file, certificate and key again.
Exit status: 0 after a graceful stop, 2 for wrong settings, 1 after any other end.
`;
