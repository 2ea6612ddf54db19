import type { Writable } from 'node:stream';
import { done, type CommandResult, failed, type Command } from './command.ts';
import { fileErrorReason } from '../file-error-reason.ts';
import { formatOf } from './formats.ts';
import { createProgress, plantCount } from './progress.ts';
import { readFailure, readStored } from './stored-plants.ts';

/** Minimum size of a write, in UTF-16 code units. */
const chunkSize = 2 ** 16;

export const exportPlants: Command = {
  argument: '',
  help: `Writes the plants to standard output in the order of their ids, as lines of JSON
or CSV (RFC 4180); the server may be running.
In CSV, an absent text is an empty field, an empty one is "", and a plant longer
than 16 MiB ends the export. Exit status 0 means that the output is complete.`,
  options: { format: 'default: ndjson' },
  async run(call) {
    const { database, stdout } = call;
    const format = await formatOf(call.format, undefined);
    const progress = createProgress(call);
    let text = format.header;
    let exported = 0;
    let leftOut = 0;
    let source = '';
    const setSource = (table: string) => (source = ` from ${table}`);
    // Another program can use any character in a name.
    const reportUnknown = (names: readonly string[]): void =>
      progress.writeLine(
        `columns of other programs or versions are left out: ${JSON.stringify(names.join(', '))}`,
      );

    const copy = async (): Promise<CommandResult> => {
      for await (const read of readStored(database, setSource, reportUnknown)) {
        if (read.isErr()) {
          if (read.error.kind !== 'not-a-plant')
            return failed(readFailure(read.error.message, exported));
          progress.writeLine(read.error.message);
          leftOut += 1;
          continue;
        }
        for (const plant of read.value) {
          const line = format.encode(plant);
          if (Buffer.byteLength(line) > format.maxBytes) {
            return failed(
              `the output is incomplete: the plant ${plant.id} is longer than 16 MiB, the maximum of a CSV record; export with --format=ndjson`,
            );
          }
          text += line;
        }
        exported += read.value.length;
        if (text.length >= chunkSize) {
          await write(stdout, text);
          text = '';
          progress.show(() => `${plantCount(exported)} exported`);
        }
      }
      await write(stdout, text);
      return leftOut === 0
        ? done
        : failed(`the output is incomplete: rows that are no plants are left out: ${leftOut}`);
    };

    const result = await copy().catch((thrown: unknown) =>
      failed(`cannot write to standard output: ${fileErrorReason(thrown)}`),
    );
    progress.clear();
    if (result === done) progress.writeLine(`${plantCount(exported)} exported${source}`);
    return result;
  },
};

/** Resolves once the text is written, for backpressure. Rejects with errors of system calls. */
async function write(stdout: Writable, text: string): Promise<void> {
  return new Promise((settle, reject) => {
    stdout.write(text, (error) => {
      if (error) reject(error);
      else settle();
    });
  });
}
