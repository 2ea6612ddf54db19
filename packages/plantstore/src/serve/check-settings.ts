import { listenOn } from '@plantstore/server';
import { err, ok, Result } from 'neverthrow';
import { inspectDatabase } from '../open-store.ts';
import { sourceOf } from '../settings/setting-table.ts';
import type { Settings, StartInvocation } from '../settings/settings.ts';
import { expiredTokenWarnings } from '../settings/token-set.ts';
import { writeMessages } from '../settings/write-messages.ts';
import { loadInputs } from './inputs.ts';
import type { ProgramProcess } from './program.ts';

/**
 * Prints the settings, reads what a start would read before it opens its database, and listens on
 * its port for a moment.
 *
 * @returns 0 if a start would get that far, else 1
 */
export async function checkSettings(
  { settings, sockets, warnings, text }: StartInvocation,
  { stdout, stderr }: ProgramProcess,
): Promise<number> {
  const inputs = await loadInputs(settings);
  // A start listens on a socket that it is handed.
  const port = sockets.plants === undefined ? await inspectPort(settings) : ok();
  const opened = [await inspectDatabase(settings.database), port];
  stdout.write(text);
  const all = [inputs, Result.combineWithAllErrors(opened)];
  const errors = all.flatMap((one) => (one.isErr() ? one.error : []));
  const expired = inputs.isOk() ? expiredTokenWarnings(inputs.value.tokens) : [];
  writeMessages(stderr, errors, [...warnings, ...expired]);
  return errors.length === 0 ? 0 : 1;
}

/** A port that is taken may be that of the server, which a restart takes over. */
async function inspectPort({ host, port }: Settings): Promise<Result<void, string>> {
  const server = process.getBuiltinModule('node:http').createServer();
  const listening = await listenOn(server, { host, port });
  server.close();
  if (listening.isOk()) return ok();
  const { message, cause } = listening.error;
  const isTaken = (cause as NodeJS.ErrnoException).code === 'EADDRINUSE';
  return isTaken ? ok() : err(`cannot serve plants (${sourceOf('host', 'port')}): ${message}`);
}
