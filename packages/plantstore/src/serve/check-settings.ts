import { inspectDatabase } from '../open-store.ts';
import type { StartInvocation } from '../settings/settings.ts';
import { expiredTokenWarnings } from '../settings/token-set.ts';
import { writeMessages } from '../settings/write-messages.ts';
import { loadInputs } from './inputs.ts';
import type { ProgramProcess } from './program.ts';

/**
 * Prints the settings and reads what a start would read before it opens its database and its ports.
 *
 * @returns 0 if a start would get that far, else the exit status of that start
 */
export async function checkSettings(
  { settings, sockets, warnings, text }: StartInvocation,
  { stdout, stderr }: ProgramProcess,
): Promise<number> {
  const loaded = await loadInputs(settings, sockets);
  const store = await inspectDatabase(settings.database);
  const failure = loaded.isErr() ? loaded.error : undefined;
  stdout.write(text);
  const errors = [...(failure?.messages ?? []), ...(store.isErr() ? [store.error] : [])];
  const expired = loaded.isOk() ? expiredTokenWarnings(loaded.value.tokens) : [];
  writeMessages(stderr, errors, [...warnings, ...expired]);
  return failure?.status ?? (store.isErr() ? 1 : 0);
}
