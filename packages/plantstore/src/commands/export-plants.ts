import type { Writable } from 'node:stream';
import type { NewPlant } from '@plantstore/core';
import { ok, type Result } from 'neverthrow';
import { fileErrorReason } from '../file-error-reason.ts';
import { type Command, type CommandCall, type CommandResult, done, failed } from './command.ts';
import { type Format, formats } from './format.ts';
import { createProgress, plantCount, type Progress } from './progress.ts';
import { openStored, readFailure, type StoredPlants } from './stored-plants.ts';

export const exportPlants: Command = {
  argument: '',
  help: `Writes the plants to standard output in the order of their ids, as lines of JSON
or as CSV (RFC 4180); the server may be running. CSV has no empty text: a plant
with one ends the export. Exit status 0 means that the output is complete.`,
  options: { format: 'default: ndjson' },
  async run(call) {
    const progress = createProgress(call);
    const stored = await openStored(call.database);
    if (stored.unknownColumns.length > 0) {
      // Another program can use any character in a name.
      const names = JSON.stringify(stored.unknownColumns.join(', '));
      progress.writeLine(`columns of other programs or versions are left out: ${names}`);
    }
    try {
      return await writePlants(stored, call, progress);
    } catch (thrown) {
      return failed(`cannot write to standard output: ${fileErrorReason(thrown)}`);
    } finally {
      progress.clear();
    }
  },
};

async function writePlants(
  { source, batches }: StoredPlants,
  { stdout, format: name = 'ndjson' }: CommandCall,
  progress: Progress,
): Promise<CommandResult> {
  const format = await formats[name]();
  let text = format.header;
  let exported = 0;
  let leftOut = 0;
  for await (const read of batches) {
    if (read.isErr()) {
      if (read.error.kind !== 'not-a-plant')
        return failed(readFailure(read.error.message, exported));
      progress.writeLine(read.error.message);
      leftOut += 1;
      continue;
    }
    const encoded = encodeAll(read.value, format);
    if (encoded.isErr()) return failed(`the output is incomplete: ${encoded.error}`);
    text += encoded.value;
    exported += read.value.length;
    if (text.length < chunkSize) continue;
    await write(stdout, text);
    text = '';
    progress.show(() => `${plantCount(exported)} exported`);
  }
  await write(stdout, text);
  if (leftOut > 0)
    return failed(`the output is incomplete: rows that are no plants are left out: ${leftOut}`);
  progress.writeLine(`${plantCount(exported)} exported${source}`);
  return done;
}

/** Minimum size of a write, in UTF-16 code units. */
const chunkSize = 2 ** 16;

/** Encodes a batch. The error names the plant that the format cannot carry. */
function encodeAll(plants: readonly NewPlant[], { encode }: Format): Result<string, string> {
  let text = '';
  for (const plant of plants) {
    const encoded = encode(plant);
    if (encoded.isErr()) return encoded.mapErr((reason) => `the plant ${plant.id}: ${reason}`);
    text += encoded.value;
  }
  return ok(text);
}

/** Resolves once the text is written, for backpressure. Rejects with errors of system calls. */
async function write(stdout: Writable, text: string): Promise<void> {
  return new Promise((settle, reject) => {
    stdout.write(text, (error) => {
      if (error) reject(error);
      else settle();
    });
  });
}
