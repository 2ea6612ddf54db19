import { createReadStream } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type {
  IdTaken,
  NewPlant,
  PlantRefused,
  PlantRepository,
  StoreUnavailable,
} from '@plantstore/core';
import { errorMessages } from '@plantstore/core/errors';
import { createLog } from '../host/log.ts';
import { openStore } from '../host/open-store.ts';
import { type CommandCall, done, type CommandResult, failed, type RunCommand } from './command.ts';
import { fileErrorReason } from './file-error-reason.ts';
import { type Decoded, formatOf } from './formats.ts';
import { createProgress, percent, plantCount, type Progress } from './progress.ts';
import { type FileRecord, splitRecords } from './split-records.ts';

/** Limits of a batch; a single plant may be longer. Text in UTF-16 code units. */
const maxBatch = { plants: 4_000, text: 4 * 2 ** 20 };

type Line = { readonly line: number } & Decoded;

const textOf = ({ name, tag }: NewPlant): number => name.length + (tag?.length ?? 0);

/** Creates plants in batches, each while the next one is being collected. */
const createImport = (repository: PlantRepository, strict: boolean, progress: Progress) => {
  const counts = { created: 0, refused: 0 };
  let batch: Line[] = [];
  let text = 0;
  let creating: Promise<void> = Promise.resolve();
  let stopped: CommandResult | undefined;

  const refuse = (line: number, reason: string): void => {
    counts.refused += 1;
    progress.writeLine(`line ${line}: ${reason}`);
    if (strict) stopped ??= { kind: 'some-refused' };
  };

  const onError = (line: number, error: IdTaken | PlantRefused | StoreUnavailable): void => {
    switch (error.kind) {
      case 'id-taken':
        refuse(line, errorMessages['id-taken']);
        break;
      case 'plant-refused':
        refuse(line, error.message);
        break;
      case 'store-unavailable':
        stopped ??= failed(`stopped at line ${line}: ${error.reason}`);
        break;
    }
  };

  const create = async (lines: readonly Line[]): Promise<void> => {
    const results = await Promise.all(
      lines.map(async (one) => (one.kind === 'plant' ? repository.create(one.plant) : undefined)),
    );
    for (const [index, one] of lines.entries()) {
      const result = results[index];
      if (one.kind === 'fault') refuse(one.line, one.reason);
      else if (result?.isErr() !== true) counts.created += 1;
      else onError(one.line, result.error);
    }
  };

  const flush = async (): Promise<void> => {
    await creating;
    if (stopped === undefined) creating = create(batch);
    batch = [];
    text = 0;
  };

  return {
    counts,
    stopped: () => stopped,
    add: async (line: Line): Promise<void> => {
      batch.push(line);
      if (line.kind === 'plant') text += textOf(line.plant);
      const isFull = batch.length >= maxBatch.plants || text >= maxBatch.text;
      if (isFull || (strict && line.kind === 'fault')) await flush();
      // In strict mode, no later line is created.
      if (strict && line.kind === 'fault') await creating;
    },
    finish: async (): Promise<void> => {
      await flush();
      await creating;
    },
  };
};

type Import = ReturnType<typeof createImport>;

const isBlank = (bytes: Uint8Array): boolean =>
  bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);

const tooLong: Decoded = { kind: 'fault', reason: 'the line is longer than 256 MiB' };

/** Adds the lines of a source. Returns a result if the import stopped before the end of the source. */
const addLines = async (
  source: Readable,
  call: CommandCall,
  { add, stopped }: Import,
  onRecord: (record: FileRecord) => void,
): Promise<CommandResult | undefined> => {
  const format = formatOf(call.format, call.file);
  let { decode } = format;
  let isHeader = format.readHeader !== undefined;
  for await (const records of splitRecords(source, format.hasQuotes)) {
    for (const record of records) {
      const { line, bytes } = record;
      onRecord(record);
      if (bytes !== undefined && isBlank(bytes)) continue;
      if (isHeader) {
        const found = bytes && format.readHeader?.(bytes);
        if (found === undefined) {
          return failed(`line ${line} must name the columns: id,name,tag`);
        }
        decode = found;
        isHeader = false;
        continue;
      }
      await add({ line, ...(bytes === undefined ? tooLong : decode(bytes)) });
      if (stopped() !== undefined) return stopped();
    }
  }
  return undefined;
};

const sizeOf = async (file: string | undefined): Promise<number> =>
  file === undefined ? 0 : ((await stat(file).catch(() => undefined))?.size ?? 0);

const importFrom = async (
  source: Readable,
  call: CommandCall,
  repository: PlantRepository,
): Promise<CommandResult> => {
  const progress = createProgress(call);
  const imported = createImport(repository, call.strict, progress);
  const { counts } = imported;
  const size = await sizeOf(call.file);
  let bytesRead = 0;
  const summary = () => `${plantCount(counts.created)} in the database, ${counts.refused} refused`;
  let outcome: CommandResult | undefined;
  try {
    outcome = await addLines(source, call, imported, ({ bytes }) => {
      bytesRead += (bytes?.length ?? 0) + 1;
      progress.show(() => `${summary()} ${percent(bytesRead, size)}`);
    });
  } catch (thrown) {
    outcome = failed(`cannot read ${call.file ?? 'standard input'}: ${fileErrorReason(thrown)}`);
  }
  await imported.finish();
  outcome ??= imported.stopped();
  progress.clear();
  call.stdout.write(`${summary()}\n`);
  if (outcome?.kind === 'failed') return failed(`${outcome.message}; run it again to continue`);
  return counts.refused > 0 ? { kind: 'some-refused' } : (outcome ?? done);
};

/** Creates the plant of each line of a file or of standard input. */
export const importPlants: RunCommand = async (call) => {
  const { file, database, stderr } = call;
  const fault =
    file === undefined
      ? undefined
      : await access(file, constants.R_OK).then(() => undefined, fileErrorReason);
  // Checked before a database file is created.
  if (fault !== undefined) return failed(`cannot read ${file}: ${fault}`);
  const log = createLog('pretty', stderr);
  const store = await openStore(database, log);
  if (store.isErr()) return failed(store.error);
  try {
    return await importFrom(
      file === undefined ? call.stdin() : createReadStream(file),
      call,
      store.value,
    );
  } finally {
    await store.value.close();
    log.flush();
  }
};
