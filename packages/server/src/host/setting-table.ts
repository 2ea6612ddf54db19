/** One setting: a flag, the environment variable of the same meaning, and what help says of it. */
export type SettingRow = {
  readonly flag: string;
  readonly variable: string;
  readonly value: string;
  readonly help: string;
};

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
    help: 'port to listen on, 0 for any free one (default 3000)',
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
    help: 'file of accepted bearer tokens, one a line',
  },
  maxBodyBytes: {
    flag: '--max-body-bytes',
    variable: 'PLANTSTORE_MAX_BODY_BYTES',
    value: 'BYTES',
    help: 'largest request body in bytes (default 1048576)',
  },
  log: {
    flag: '--log',
    variable: 'PLANTSTORE_LOG',
    value: 'FORMAT',
    help: 'json or pretty (default pretty on a terminal, else json)',
  },
} as const satisfies Record<string, SettingRow>;

export type SettingName = keyof typeof settingTable;

/** Tokens in the environment, comma-separated; there is no flag, for flags show in process lists. */
export const tokensVariable = 'PLANTSTORE_TOKENS';

const helpLine = ({ flag, variable, value, help }: SettingRow): string =>
  `  ${`${flag} ${value}`.padEnd(24)} ${help}\n${' '.repeat(27)}${variable}\n`;

/** What `--help` prints. */
export const helpText = `Usage: plantstore-server [settings]

Serves POST {base}/plants. A flag wins over its environment variable.

${Object.values(settingTable).map(helpLine).join('')}
  ${tokensVariable.padEnd(24)} accepted bearer tokens, comma-separated; without these
${' '.repeat(27)}and without a tokens file, one is made up for the run
  --help                   print this and exit
  --version                print the version and exit

Exit status: 0 after a graceful stop, 1 when it cannot run, 2 for wrong settings.
`;
