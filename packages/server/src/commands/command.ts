import type { Readable, Writable } from 'node:stream';
import type { DatabaseSetting } from '../host/setting-table.ts';
import type { FormatName } from './formats.ts';

/** A database that outlives the process. */
export type StoredDatabase = Exclude<DatabaseSetting, { readonly kind: 'memory' }>;

/** The options of all commands; each command takes some of them. */
export type CommandOptions = {
  readonly database: StoredDatabase;
  readonly replace: boolean;
  readonly strict: boolean;
  readonly format: FormatName | undefined;
  readonly fromId: bigint | undefined;
  readonly toId: bigint | undefined;
};

/** The streams of the process. */
export type CommandStreams = {
  readonly stdin: () => Readable;
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
};

/** Options, streams and argument of a command. */
export type CommandCall = CommandOptions &
  CommandStreams & {
    /** The argument that is not an option. */
    readonly file: string | undefined;
  };

/** Result of a command; `message` is written to standard error. */
export type CommandResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'some-refused' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'invalid'; readonly message: string };

export type RunCommand = (call: CommandCall) => Promise<CommandResult>;

export const done: CommandResult = { kind: 'done' };
export const failed = (message: string): CommandResult => ({ kind: 'failed', message });
export const invalid = (message: string): CommandResult => ({ kind: 'invalid', message });
