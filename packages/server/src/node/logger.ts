/** Where the server tells what happens; pino has this shape, as has the bundled host's log. */
export type Logger = {
  readonly info: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  readonly warn: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  readonly error: (fields: Readonly<Record<string, unknown>>, message: string) => void;
};

/** The logger of a server whose user gave none. */
export const silent: Logger = { info() {}, warn() {}, error() {} };
