import { isThenable } from './values.ts';

/** Receives the log of the server. A pino logger has this type, as has the log of `plantstore`. */
export type Logger = {
  /** Logs requests that were served, refused or aborted. */
  readonly info: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  /** Logs requests whose response was 503, and connections above `maxConnections`. */
  readonly warn: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  /** Logs requests whose response was 500. */
  readonly error: (fields: Readonly<Record<string, unknown>>, message: string) => void;
};

/**
 * Returns a logger that ignores exceptions of the given one, so that a line is lost and nothing
 * else.
 */
export function loggerOf(given: Logger | undefined): Logger {
  if (given === undefined) return silent;
  const guarded =
    (level: keyof Logger): Logger[typeof level] =>
    (fields, message) => {
      try {
        const logged: unknown = given[level](fields, message);
        // An async logger rejects, which would end the process.
        if (isThenable(logged)) logged.then(undefined, () => {});
      } catch {
        // There is no other log to report the exception to.
      }
    };
  return { info: guarded('info'), warn: guarded('warn'), error: guarded('error') };
}

/** The logger of a server without the option `logger`. */
export const silent: Logger = { info() {}, warn() {}, error() {} };
