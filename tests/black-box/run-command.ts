import { writeFile } from 'node:fs/promises';
import { type ProgramOptions, spawnProgram } from './program.ts';

/** Runs a command of the real bin to its end. Its database is `plants.db` in the folder, unless the command or a variable names another. */
export const runCommand = async (
  args: readonly string[],
  { env, ...options }: Pick<ProgramOptions, 'cwd' | 'env' | 'stdin'>,
) => {
  const PLANTSTORE_DATABASE = 'sqlite:plants.db';
  const command = spawnProgram({ ...options, args, env: { PLANTSTORE_DATABASE, ...env } });
  const status = await command.exited;
  return { status, stdout: command.stdout(), stderr: command.stderr() };
};

/** Writes plants with ids beyond 2^53 as NDJSON, as `export` writes them, and returns the text. */
export const writePlants = async (path: string, count: number): Promise<string> => {
  const tags = ['', ',"tag":""', String.raw`,"tag":"a, \"b\"\n"`];
  const lines = Array.from(
    { length: count },
    (_, index) =>
      `{"id":${2n ** 53n + 1n + BigInt(index)},"name":"plant ${index} e\u0301 🪴"${tags[index % 3]}}\n`,
  );
  await writeFile(path, lines.join(''));
  return lines.join('');
};
