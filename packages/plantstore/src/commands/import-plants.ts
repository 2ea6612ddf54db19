import { createReadStream, type ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type {
  IdTaken,
  NewPlant,
  PlantRefused,
  PlantRepository,
  StoreUnavailable,
} from '@plantstore/core';
import { errorTable } from '@plantstore/core/errors';
import { textLength } from '@plantstore/core/wire';
import { err, ResultAsync } from 'neverthrow';
import { createLog } from '../log/log.ts';
import { openStore, type Store } from '../open-store.ts';
import { writeLine } from '../settings/write-messages.ts';
import {
  type CommandCall,
  type CommandResult,
  done,
  failed,
  type Command,
  someRefused,
} from './command.ts';
import { fileErrorReason } from '../file-error-reason.ts';
import type { PlantRecord, Records } from './format.ts';
import { formatOf } from './formats.ts';
import { createProgress, percent, plantCount, type Progress } from './progress.ts';

/** Creates the plant of each record of a file or of standard input. */
export const importPlants: Command = {
  argument: '[FROM]',
  help: `Creates the plant of each line of the file FROM, or of standard input: lines of
JSON or CSV (RFC 4180), as export writes them. A refused line is reported by its
number on standard error, and the import continues. Creating a plant that exists
already changes nothing, so an interrupted import can be run again. Stop the
server of a SQLite database first.
The header of CSV names the columns, as in an export; one of an optional member
may be missing. An empty field is absent, and "" is empty text. A record that
cannot be read ends the import: correct it and import the file again. A last
record of CSV without a line end is refused, because the file may be cut.`,
  options: {
    format: 'default: csv for a file named .csv, else ndjson',
    strict: 'stop at the first refused line',
    complete: 'create the plant of a last line of CSV that has no end',
  },
  async run(call) {
    const { file, database, stderr } = call;
    const source: Readable & Partial<Pick<ReadStream, 'bytesRead'>> =
      // Larger reads than the default, because each has a fixed cost.
      file === undefined ? call.stdin() : createReadStream(file, { highWaterMark: 2 ** 18 });
    const records = readRecords(source, call);
    // Read first: a source that cannot be read must not create a database.
    const first = await records.next();
    if (first.done !== true && first.value.isErr()) return failed(first.value.error);
    const log = createLog('pretty', stderr);
    const store = await openStore(database, log);
    if (store.isErr()) return failed(store.error);
    try {
      return await importRecords(first, records, () => source.bytesRead ?? 0, call, store.value);
    } finally {
      await store.value.close();
      log.flush();
    }
  },
};

/** Reads the records of a source. An error is the last result, with a message for the operator. */
async function* readRecords(source: Readable, call: CommandCall): Records {
  const { format, file, complete } = call;
  try {
    yield* (await formatOf(format, file)).read(source, complete);
  } catch (thrown) {
    yield err(`cannot read ${file ?? 'standard input'}: ${fileErrorReason(thrown)}`);
  }
}

/** Creates the plants of the first records that were read, and of those after them. */
async function importRecords(
  first: Awaited<ReturnType<Records['next']>>,
  records: Records,
  bytesRead: () => number,
  call: CommandCall,
  repository: Store,
): Promise<CommandResult> {
  const progress = createProgress(call);
  const imported = createImport(repository, call.strict, progress);
  const { counts } = imported;
  const stats = call.file === undefined ? undefined : await stat(call.file).catch(() => undefined);
  const where = repository.table === undefined ? '' : ` in ${repository.table}`;
  const summary = () =>
    `${plantCount(counts.created)} created${where}, ${counts.existing} already there, ${counts.refused} refused`;
  let unread: string | undefined;
  for (let read = first; read.done !== true; read = await records.next()) {
    if (read.value.isOk()) await imported.add(read.value.value);
    else unread = read.value.error;
    if (imported.isStopped()) break;
    progress.show(() => `${summary()} ${percent(bytesRead(), stats?.size ?? 0)}`);
  }
  await imported.finish();
  const failure = imported.failure();
  progress.clear();
  writeLine(call.stdout, summary());
  if (failure !== undefined) return failed(`${failure}; run it again to continue`);
  // In strict mode, a record that was refused before it has stopped the import.
  if (unread !== undefined && !imported.isStopped()) {
    return failed(
      `${unread}; the records before it that were not refused are in the database, and nothing after it was read; correct this and import the file again`,
    );
  }
  return counts.refused > 0 ? someRefused : done;
}

/** Limits of a batch; a single plant may be longer. Text in UTF-16 code units. */
const maxBatch = { plants: 4_000, text: 4 * 2 ** 20 };

/** Why a record is not created: it is no plant, or an error of the store. */
type CreateError = string | IdTaken | PlantRefused | StoreUnavailable;

/** Creates plants in batches, each while the next one is being collected. */
function createImport(repository: PlantRepository, strict: boolean, progress: Progress) {
  const counts = { created: 0, existing: 0, refused: 0 };
  let batch: PlantRecord[] = [];
  let text = 0;
  let creating: Promise<void> = Promise.resolve();
  let failure: string | undefined;

  // In strict mode, no line after a refused one is created.
  const isStopped = (): boolean => failure !== undefined || (strict && counts.refused > 0);

  const refuse = (line: PlantRecord, reason: string): void => {
    counts.refused += 1;
    progress.writeLine(`${nameOf(line)}: ${reason}`);
  };

  const onError = (line: PlantRecord, error: CreateError): void => {
    if (typeof error === 'string') refuse(line, error);
    else if (error.kind !== 'store-unavailable') refuse(line, reasonOf(error));
    else if (!isStopped()) failure = `stopped at ${nameOf(line)}: ${error.reason}`;
  };

  const create = async (lines: readonly PlantRecord[]): Promise<void> => {
    // Of plants with one id, the first of the file is created: a store may commit several batches at a time.
    const inTurn = new Map<bigint, ReturnType<PlantRepository['create']>>();
    const createInTurn = (plant: NewPlant) => {
      const earlier = inTurn.get(plant.id);
      const created =
        earlier === undefined
          ? repository.create(plant)
          : ResultAsync.fromSafePromise(earlier).andThen(() => repository.create(plant));
      inTurn.set(plant.id, created);
      return created;
    };
    const creates = lines.map((line) => ({
      line,
      result: line.decoded.asyncAndThen(createInTurn),
    }));
    for (const { line, result } of creates) {
      const created = await result;
      if (created.isErr()) onError(line, created.error);
      else counts[created.value === 'unchanged' ? 'existing' : 'created'] += 1;
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
    add: async (lines: readonly PlantRecord[]): Promise<void> => {
      for (const line of lines) {
        batch.push(line);
        if (line.decoded.isOk()) text += textLength(line.decoded.value);
        const isFull = batch.length >= maxBatch.plants || text >= maxBatch.text;
        const isLast = strict && line.decoded.isErr();
        if (isFull || isLast) await flush();
        if (isLast) await creating;
      }
    },
    finish: async (): Promise<void> => {
      await flush();
      await creating;
    },
  };
}

/** Returns `line 7`, or `lines 7 to 9`. */
function nameOf({ firstLine, lastLine }: PlantRecord): string {
  return firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine} to ${lastLine}`;
}

/** Returns the reason of a refusal, with that of the database, for the operator. */
function reasonOf(error: IdTaken | PlantRefused): string {
  if (error.kind === 'id-taken') return errorTable['id-taken'].message;
  const { message, cause } = error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
