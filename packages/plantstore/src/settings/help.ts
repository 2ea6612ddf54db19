import {
  defaultOf,
  flagOf,
  settingNames,
  type SettingName,
  settingTable,
  variableOf,
} from './setting-table.ts';

/** What `--help` prints, in lines of at most 80 characters. */
export const helpText = `Usage: plantstore [settings]
       plantstore COMMAND --help

Serves POST {base}/plants. A flag takes precedence over its variable.
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
      a variable of the environment takes precedence
  --check-settings
      print the settings with their sources, read what a start would read before
      it opens its database, and try its host and port, unless another process
      has the port; exit with 0 if that succeeds
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
