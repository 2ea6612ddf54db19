import { done, type CommandResult, failed, type RunCommand } from './command.ts';
import { fileErrorReason } from './file-error-reason.ts';
import { formatOf } from './formats.ts';
import { openOutput } from './output.ts';
import { createProgress, plantCount } from './progress.ts';
import { readFailure, readStored } from './stored-plants.ts';

/** Minimum size of a write, in UTF-16 code units. */
const chunkSize = 2 ** 16;

/** Exports plants as lines, to standard output or to a file that is renamed once it is complete. */
export const exportPlants: RunCommand = async (call) => {
  const { database, file, stdout, fromId, toId, replace } = call;
  const format = formatOf(call.format, file);
  const path = database.kind === 'sqlite' ? database.path : undefined;
  const opened = await openOutput(file, stdout, replace, path);
  if (opened.isErr()) return failed(opened.error);
  const output = opened.value;
  const progress = createProgress(call);
  let exported = 0;

  const copy = async (): Promise<CommandResult> => {
    let text = format.header;
    for await (const read of readStored(database, fromId)) {
      if (read.isErr()) return failed(readFailure(read.error.message, exported));
      const plant = read.value;
      if (toId !== undefined && plant.id > toId) break;
      text += format.encode(plant);
      exported += 1;
      if (text.length >= chunkSize) {
        await output.write(text);
        text = '';
        progress.show(() => `${plantCount(exported)} exported`);
      }
      // Reads no further, because the next plants may be damaged.
      if (plant.id === toId) break;
    }
    await output.write(text);
    await output.finish();
    return done;
  };

  let result: CommandResult;
  try {
    result = await copy();
  } catch (thrown) {
    result = failed(`cannot write ${file ?? 'to standard output'}: ${fileErrorReason(thrown)}`);
  }
  progress.clear();
  if (result === done) progress.writeLine(`${plantCount(exported)} exported`);
  else await output.abandon().catch(() => {});
  return result;
};
