import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { runCommand } from '../src/commands/run-command.ts';
import type { Environment } from '../src/settings/given-values.ts';

export { makeFolder as newFolder } from '@plantstore/test-support/make-folder';

const collect = () => {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
};

/** Runs a command in this process, on `plants.db` in the folder unless `env` names a database. */
export const runIn = async (
  folder: string,
  args: readonly string[],
  stdin: string | Buffer = '',
  env: Environment = {},
) => {
  const [stdout, stderr] = [collect(), collect()];
  const status = await runCommand(
    args,
    { PLANTSTORE_DATABASE: `sqlite:${join(folder, 'plants.db')}`, ...env },
    {
      stdin: () => Readable.from([Buffer.from(stdin)]),
      stdout: stdout.stream,
      stderr: stderr.stream,
    },
  );
  return { status, stdout: stdout.text(), stderr: stderr.text() };
};
