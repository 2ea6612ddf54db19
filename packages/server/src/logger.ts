/** Where the server tells what happens; pino has this shape, as has the bundled host's log. */
export type Logger = {
  /** Hears of requests that were served, refused or broken off. */
  readonly info: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  /** Hears of requests that were answered 503, and of connections that were too many. */
  readonly warn: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  /** Hears of requests that were answered 500. */
  readonly error: (fields: Readonly<Record<string, unknown>>, message: string) => void;
};

/** The logger of a server whose user gave none. */
export const silent: Logger = { info() {}, warn() {}, error() {} };

/**
 * The logger to use for the one that was given: where that throws, a line is lost and nothing else.
 *
 * @throws TypeError for what is no logger
 */
export const loggerOf = (given: Logger | undefined): Logger => {
  if (given === undefined) return silent;
  const guarded = (level: keyof Logger): Logger[typeof level] => {
    if (typeof given?.[level] !== 'function') {
      throw new TypeError('logger must have info, warn and error');
    }
    return (fields, message) => {
      try {
        given[level](fields, message);
      } catch {
        // There is nowhere left to say it.
      }
    };
  };
  return { info: guarded('info'), warn: guarded('warn'), error: guarded('error') };
};
