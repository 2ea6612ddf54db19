import { inspectDatabase } from '../open-store.ts';
import type { StartInvocation } from '../settings/settings.ts';
import { expiredTokenWarnings } from '../settings/token-set.ts';
import { writeMessages } from '../settings/write-messages.ts';
import { loadInputs } from './inputs.ts';
import type { ProgramProcess } from './program.ts';

/**
 * Prints the settings and reads what a start would read before it opens its database and its ports.
 *
 * @returns 0 if a start would get that far, else 1
 */
export async function checkSettings(
  { settings, warnings, text }: StartInvocation,
  { stdout, stderr }: ProgramProcess,
): Promise<number> {
  const loaded = await loadInputs(settings);
  const store = await inspectDatabase(settings.database);
  stdout.write(text);
  const errors = [...(loaded.isErr() ? loaded.error : []), ...(store.isErr() ? [store.error] : [])];
  const expired = loaded.isOk() ? expiredTokenWarnings(loaded.value.tokens) : [];
  writeMessages(stderr, errors, [...warnings, ...expired]);
  return errors.length === 0 ? 0 : 1;
}
