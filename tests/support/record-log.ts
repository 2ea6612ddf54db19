import { setTimeout as sleep } from 'node:timers/promises';

/** What the server logs to. */
type Logger = Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>;

/** Returns a logger that records its lines. */
export const recordLog = () => {
  const logged: Record<string, unknown>[] = [];
  const record = (level: keyof Logger) => (fields: object, message: string) => {
    logged.push({ level, message, ...fields });
  };
  const logger: Logger = { info: record('info'), warn: record('warn'), error: record('error') };
  return { logged, logger };
};

/** Waits until a condition is true. */
export const until = async (condition: () => boolean) => {
  while (!condition()) await sleep(2);
};
