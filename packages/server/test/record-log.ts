import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../src/http/logger.ts';

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
