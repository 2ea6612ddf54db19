import { done, type Ended, failed, type RunCommand } from './command.ts';
import { fileFault } from './file-fault.ts';
import { formatOf } from './formats.ts';
import { openOutput, type Output } from './output.ts';
import { createProgress, plantsIn } from './progress.ts';
import { readFailure, readStored } from './stored-plants.ts';

/** Characters that are written at a time. */
const chunkSize = 2 ** 16;

/** Writes plants as lines, to a file that gets its name when it is complete, or to standard output. */
export const exportPlants: RunCommand = async (call) => {
  const { database, file, stdout, fromId, toId, replace } = call;
  const format = formatOf(call.format, file);
  const opened = await openOutput(file, stdout, replace);
  if ('fault' in opened) return failed(opened.fault);
  const output: Output = opened;
  const progress = createProgress(call);
  let exported = 0;

  const copy = async (): Promise<Ended> => {
    let text = format.header;
    for await (const read of readStored(database, fromId)) {
      if (read.kind === 'failed') return failed(readFailure(read.message, exported));
      if (toId !== undefined && read.plant.id > toId) break;
      text += format.encode(read.plant);
      exported += 1;
      if (text.length >= chunkSize) {
        await output.write(text);
        text = '';
        progress.show(() => `${plantsIn(exported)} exported`);
      }
      // Not one more: what comes after may be damaged.
      if (read.plant.id === toId) break;
    }
    await output.write(text);
    await output.finish();
    return done;
  };

  let ended: Ended;
  try {
    ended = await copy();
  } catch (thrown) {
    ended = failed(`cannot write ${file ?? 'to standard output'}: ${fileFault(thrown)}`);
  }
  progress.clear();
  if (ended.kind === 'done') progress.say(`${plantsIn(exported)} exported`);
  else await output.abandon().catch(() => {});
  return ended;
};
