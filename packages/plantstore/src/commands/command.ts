import type { Readable, Writable } from 'node:stream';
import type { DatabaseSetting } from '../settings/setting-table.ts';

/** A command. Each loads only what it needs, because most of a command is its start. */
export type Command = {
  /** The positional argument; in brackets, if it is optional. */
  readonly argument: 'TO' | 'FROM' | '[FROM]' | '';
  readonly help: string;
  /** The help of its option besides `--database`, if it has one. */
  readonly options: { readonly format?: string; readonly strict?: string };
  readonly run: (call: CommandCall) => Promise<CommandResult>;
};

export type CommandCall = CommandStreams & {
  readonly database: StoredDatabase;
  /** The argument that is not an option. */
  readonly file: string | undefined;
  /** `undefined` if it is not given. */
  readonly format: FormatName | undefined;
  readonly strict: boolean;
};

export type CommandStreams = {
  readonly stdin: () => Readable;
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
};

/** A database that outlives the process. */
export type StoredDatabase = Exclude<DatabaseSetting, { readonly kind: 'memory' }>;

export const formatNames = ['ndjson', 'csv'] as const;
export type FormatName = (typeof formatNames)[number];

export type CommandResult = { readonly status: number; readonly messages: readonly string[] };

export const done: CommandResult = { status: 0, messages: [] };
export const failed = (message: string): CommandResult => ({ status: 1, messages: [message] });
export const invalid = (...messages: readonly string[]): CommandResult => ({ status: 2, messages });
export const someRefused: CommandResult = { status: 3, messages: [] };

/** Returns the result of a command that PostgreSQL has a tool for. */
export function useOwnTool(command: string, tool: string): CommandResult {
  return invalid(`${command} is for SQLite; PostgreSQL has its own tools: ${tool}`);
}
