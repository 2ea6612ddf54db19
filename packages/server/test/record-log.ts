import type { Logger } from '../src/logger.ts';

/** A logger that keeps what it is told. */
export const recordLog = () => {
  const logged: Record<string, unknown>[] = [];
  const note = (level: keyof Logger) => (fields: object, message: string) => {
    logged.push({ level, message, ...fields });
  };
  const logger: Logger = { info: note('info'), warn: note('warn'), error: note('error') };
  return { logged, logger };
};

/** Waits until something is so. */
export const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise(setImmediate);
};
