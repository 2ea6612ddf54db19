import type { Readable } from 'node:stream';
import { createExitStatus } from './exit-status.ts';
import { checkSettings } from './serve/check-settings.ts';
import { Program, type ProgramProcess } from './serve/program.ts';
import { takeHandedSockets } from './settings/handed-sockets.ts';
import { helpText } from './settings/help.ts';
import { variableOf } from './settings/setting-table.ts';
import { readSettings, unknownVariables } from './settings/settings.ts';
import { writeMessages } from './settings/write-messages.ts';
import { version } from './version.ts';

/**
 * Runs the server: reads the settings, opens the store, and serves until it receives a signal. If
 * the command line begins with a command, it runs that and does not serve.
 *
 * @returns the exit status: 0 after a graceful shutdown; 1 if it cannot start, its output is lost,
 * or requests were cut; 2 for invalid settings; of a command, see `runCommand`
 */
export async function main({ argv, env, stdin, ...programProcess }: MainOptions): Promise<number> {
  const { stdout, stderr } = programProcess;
  // An error of a message (a closed pipe, a full disk) does not stop the program.
  stderr.on('error', () => {});
  // Only a server may lose its output, which is its log.
  const exitStatusOf = createExitStatus(stdout, stderr);
  const given = { ...env };
  for (const variable of [...secretVariables, ...unknownVariables(env)]) delete env[variable];
  if (argv[0]?.startsWith('-') === false) {
    // A server never needs it.
    const { runCommand } = await import('./commands/run-command.ts');
    return exitStatusOf(await runCommand(argv, given, { stdin, stdout, stderr }));
  }
  const invocation = readSettings(argv, given, takeHandedSockets(env, process.pid));
  switch (invocation.kind) {
    case 'help':
      stdout.write(helpText);
      return exitStatusOf(0);
    case 'version':
      stdout.write(`${version()}\n`);
      return exitStatusOf(0);
    case 'invalid':
      writeMessages(stderr, invocation.faults, invocation.warnings);
      return exitStatusOf(2);
    case 'check-settings':
      return exitStatusOf(await checkSettings(invocation, programProcess));
    case 'run':
      return new Program(invocation, programProcess).run();
  }
}

/** The environment of the program: its command line, variables, streams and signals. */
export type MainOptions = ProgramProcess & {
  readonly argv: readonly string[];
  /** The environment variables. Secrets are removed, because a crash dump contains the others. */
  readonly env: Record<string, string | undefined>;
  /** Standard input, which only `import` reads. */
  readonly stdin: () => Readable;
};

/** Variables that may contain a token or the password of a database. */
const secretVariables = [variableOf('tokens'), variableOf('database')];
