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

/** What a command is run with. */
export type CommandCall = CommandOptions &
  CommandStreams & {
    /** The argument that is not an option. */
    readonly file: string | undefined;
  };

/** How a command ended; `message` is for standard error. */
export type Ended =
  | { readonly kind: 'done' }
  | { readonly kind: 'some-refused' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'wrong'; readonly message: string };

export type RunCommand = (call: CommandCall) => Promise<Ended>;

export const done: Ended = { kind: 'done' };
export const failed = (message: string): Ended => ({ kind: 'failed', message });
export const wrong = (message: string): Ended => ({ kind: 'wrong', message });
