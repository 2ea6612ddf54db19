import type { Readable } from 'node:stream';
import { type Outside, run } from './host/run.ts';
import { variableOf } from './host/setting-table.ts';
import { helpText, misspeltVariables, readSettings } from './host/settings.ts';
import { version } from './version.ts';

/** The outside of the program. */
export type MainOptions = Outside & {
  /** The command line, without the program and its name. */
  readonly argv: readonly string[];
  /** Is read once; variables with secrets are taken out of it, for a crash dump has the rest. */
  readonly env: Record<string, string | undefined>;
  /** Standard input, which only `import` reads. */
  readonly stdin: () => Readable;
};

/** Variables with tokens, or with a database's password. */
const secretVariables = [variableOf('tokens'), variableOf('database')];

/**
 * The bundled host: reads the settings, opens the store, serves until a signal asks it to stop. Where the command line
 * begins with a command, it runs that and does not serve.
 *
 * @returns the exit status: 0 after a graceful stop, 1 where it cannot run, was stopped at once or
 * had an uncaught exception, 2 for wrong settings; of a command, see `runCommand`
 */
export const main = async ({ argv, env, stdin, ...outside }: MainOptions): Promise<number> => {
  const { stdout, stderr } = outside;
  // A log that cannot be written (a closed pipe, a full disk) stops no plant from being kept.
  for (const output of [stdout, stderr]) output.on('error', () => {});
  if (argv[0]?.startsWith('-') === false) {
    // A host never needs it.
    const { runCommand } = await import('./commands/run-command.ts');
    const given = { ...env };
    for (const variable of secretVariables) delete env[variable];
    return runCommand(argv, given, { stdin, stdout, stderr });
  }
  const invocation = readSettings(argv, env);
  for (const variable of [...secretVariables, ...misspeltVariables(env)]) delete env[variable];
  switch (invocation.kind) {
    case 'help':
      stdout.write(helpText);
      return 0;
    case 'check':
      stderr.write(
        invocation.warnings.map((warning) => `plantstore-server: ${warning}\n`).join(''),
      );
      stdout.write(invocation.text);
      return 0;
    case 'version':
      stdout.write(`${version()}\n`);
      return 0;
    case 'wrong':
      stderr.write(invocation.faults.map((fault) => `plantstore-server: ${fault}\n`).join(''));
      return 2;
    case 'run':
      return run(invocation, outside);
  }
};
