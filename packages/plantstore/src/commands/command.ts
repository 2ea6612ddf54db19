import type { Readable, Writable } from 'node:stream';
import type { DatabaseSetting } from '../settings/setting-table.ts';

/** A database that outlives the process. */
export type StoredDatabase = Exclude<DatabaseSetting, { readonly kind: 'memory' }>;

export const formatNames = ['ndjson', 'csv'] as const;
export type FormatName = (typeof formatNames)[number];

/** The options of all commands; each command takes some of them. */
export type CommandOptions = {
  readonly database: StoredDatabase;
  readonly strict: boolean;
  readonly complete: boolean;
  readonly format: FormatName | undefined;
};

export type CommandStreams = {
  readonly stdin: () => Readable;
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
};

export type CommandCall = CommandOptions &
  CommandStreams & {
    /** The argument that is not an option. */
    readonly file: string | undefined;
  };

export type CommandResult = { readonly status: number; readonly messages: readonly string[] };

export type Command = {
  /** The positional argument; in brackets, if it is optional. */
  readonly argument: 'TO' | 'FROM' | '[FROM]' | '';
  readonly help: string;
  /** The help of its options besides `--database`. */
  readonly options: { readonly [name in Exclude<keyof CommandOptions, 'database'>]?: string };
  readonly run: (call: CommandCall) => Promise<CommandResult>;
};

export const done: CommandResult = { status: 0, messages: [] };
export const failed = (message: string): CommandResult => ({ status: 1, messages: [message] });
export const invalid = (...messages: readonly string[]): CommandResult => ({ status: 2, messages });
export const someRefused: CommandResult = { status: 3, messages: [] };

/** Returns the result of a command that PostgreSQL has a tool for. */
export function useOwnTool(command: string, tool: string): CommandResult {
  return invalid(`${command} is for SQLite; PostgreSQL has its own tools: ${tool}`);
}
