import { err, ok } from 'neverthrow';
import { oneOf, type Parser } from '../settings/setting-table.ts';
import { backUp, restore } from './back-up.ts';
import { check } from './check.ts';
import type { CommandOptions, RunCommand } from './command.ts';
import { exportPlants } from './export-plants.ts';
import { formatNames } from './formats.ts';
import { importPlants } from './import-plants.ts';

/** An option of a command; without a parser, it has no value. `--database` is a setting. */
type Option = { readonly parser?: Parser<unknown>; readonly help: string };

const id: Parser<bigint> = {
  placeholder: 'ID',
  parse(text) {
    const value = /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
    return value === undefined || BigInt.asIntN(64, value) !== value
      ? err('a whole number from -9223372036854775808 to 9223372036854775807')
      : ok(value);
  },
};

export type OptionName = Exclude<keyof CommandOptions, 'database'>;

export const optionTable: Readonly<Record<OptionName, Option>> = {
  format: {
    parser: oneOf(...formatNames),
    help: 'default: csv to import a file named .csv, else ndjson',
  },
  fromId: { parser: id, help: 'the smallest id to export; --from-id=-7 for one below 0' },
  toId: { parser: id, help: 'the greatest id to export' },
  strict: { help: 'stop at the first refused line' },
};

export type Command = {
  /** The positional argument; in brackets, if it is optional. */
  readonly argument: 'TO' | 'FROM' | '[FROM]' | '';
  readonly help: string;
  readonly options: readonly OptionName[];
  readonly run: RunCommand;
};

const backUpHelp = `Copies a SQLite database to the new file TO; the server may be running. The copy
has every plant that was acknowledged before the command started. TO gets its
name once it is complete, checked and on the disk. An existing file is never
replaced. A command that is killed leaves no TO, but can leave a file
TO.RANDOM.partial, which can be removed.`;

const restoreHelp = `Creates the database as a copy of the SQLite file FROM, as backup does. An
existing database is never replaced: stop the server, then move the database and
the files beside it to a new folder (mkdir elsewhere && mv plants.db* elsewhere/).
If interrupted, run it again.`;

const exportHelp = `Writes the plants to standard output in the order of their ids, as lines of JSON
or CSV (RFC 4180); the server may be running.
In CSV, an absent tag is an empty field, and an empty tag is "". Exit status 0
means that the output is complete.`;

const importHelp = `Creates the plant of each line of the file FROM, or of standard input: lines of
JSON or CSV (RFC 4180), as export writes them. A refused line is reported by its
number on standard error, and the import continues. Creating a plant that exists
already changes nothing, so an interrupted import can be run again. Stop the
server of a SQLite database first.
In CSV, the first line names the columns, an empty field is absent, and "" is
empty text. A quote opens a field only at its start. After a record that cannot
be read, reading continues in its second line.`;

const checkHelp = `Checks a database; the server may be running. Counts and reads every plant, and
runs the integrity check of SQLite.
For a damaged file, it prints the commands that export the plants that can still
be read. An I/O error is reported as a failure of the disk, and not as damage.`;

export const commandTable: Readonly<Record<string, Command>> = {
  backup: { argument: 'TO', help: backUpHelp, options: [], run: backUp },
  restore: { argument: 'FROM', help: restoreHelp, options: [], run: restore },
  export: {
    argument: '',
    help: exportHelp,
    options: ['format', 'fromId', 'toId'],
    run: exportPlants,
  },
  import: {
    argument: '[FROM]',
    help: importHelp,
    options: ['format', 'strict'],
    run: importPlants,
  },
  check: { argument: '', help: checkHelp, options: [], run: check },
};
