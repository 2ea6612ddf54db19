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
import { err } from 'neverthrow';
import { createLog } from '../log.ts';
import { openStore } from '../open-store.ts';
import {
  type CommandCall,
  type CommandResult,
  done,
  failed,
  type RunCommand,
  someRefused,
} from './command.ts';
import { fileErrorReason } from './file-error-reason.ts';
import { type Decoded, formatOf } from './formats.ts';
import { createProgress, percent, plantCount, type Progress } from './progress.ts';
import { type FileRecord, splitRecords } from './split-records.ts';

/** Limits of a batch; a single plant may be longer. Text in UTF-16 code units. */
const maxBatch = { plants: 4_000, text: 4 * 2 ** 20 };

type Line = { readonly line: number; readonly decoded: Decoded };

const textOf = ({ name, tag }: NewPlant): number => name.length + (tag?.length ?? 0);

/** Creates plants in batches, each while the next one is being collected. */
const createImport = (repository: PlantRepository, strict: boolean, progress: Progress) => {
  const counts = { created: 0, refused: 0 };
  let batch: Line[] = [];
  let text = 0;
  let creating: Promise<void> = Promise.resolve();
  let failure: string | undefined;

  // In strict mode, no line after a refused one is created.
  const isStopped = (): boolean => failure !== undefined || (strict && counts.refused > 0);

  const refuse = (line: number, reason: string): void => {
    counts.refused += 1;
    progress.writeLine(`line ${line}: ${reason}`);
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
        if (!isStopped()) failure = `stopped at line ${line}: ${error.reason}`;
        break;
    }
  };

  const create = async (lines: readonly Line[]): Promise<void> => {
    const results = await Promise.all(
      lines.map(async ({ decoded }) =>
        decoded.isOk() ? repository.create(decoded.value) : undefined,
      ),
    );
    for (const [index, { line, decoded }] of lines.entries()) {
      const result = results[index];
      if (decoded.isErr()) refuse(line, decoded.error);
      else if (result?.isErr() !== true) counts.created += 1;
      else onError(line, result.error);
    }
  };

  const flush = async (): Promise<void> => {
    await creating;
    if (!isStopped()) creating = create(batch);
    batch = [];
    text = 0;
  };

  return {
    counts,
    isStopped,
    failure: () => failure,
    add: async (line: Line): Promise<void> => {
      batch.push(line);
      if (line.decoded.isOk()) text += textOf(line.decoded.value);
      const isFull = batch.length >= maxBatch.plants || text >= maxBatch.text;
      const isLast = strict && line.decoded.isErr();
      if (isFull || isLast) await flush();
      if (isLast) await creating;
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

const tooLong: Decoded = err('the line is longer than 256 MiB');

/** Adds the lines of a source, until the import stops. Returns a message for an invalid header. */
const addLines = async (
  source: Readable,
  call: CommandCall,
  { add, isStopped }: Import,
  onRecord: (record: FileRecord) => void,
): Promise<string | undefined> => {
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
        if (found === undefined) return `line ${line} must name the columns: id,name,tag`;
        decode = found;
        isHeader = false;
        continue;
      }
      await add({ line, decoded: bytes === undefined ? tooLong : decode(bytes) });
      if (isStopped()) return undefined;
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
  let failure: string | undefined;
  try {
    failure = await addLines(source, call, imported, ({ bytes }) => {
      bytesRead += (bytes?.length ?? 0) + 1;
      progress.show(() => `${summary()} ${percent(bytesRead, size)}`);
    });
  } catch (thrown) {
    failure = `cannot read ${call.file ?? 'standard input'}: ${fileErrorReason(thrown)}`;
  }
  await imported.finish();
  failure ??= imported.failure();
  progress.clear();
  call.stdout.write(`${summary()}\n`);
  if (failure !== undefined) return failed(`${failure}; run it again to continue`);
  return counts.refused > 0 ? someRefused : done;
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
