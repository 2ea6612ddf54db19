import type { IdTaken, NewPlant, PlantRefused, StoreUnavailable } from '@plantstore/core';
import { errorTable } from '@plantstore/core/errors';
import { textLength } from '@plantstore/core/wire';
import { err, ResultAsync } from 'neverthrow';
import { fileErrorReason } from '../file-error-reason.ts';
import { createLog, type Log } from '../log/log.ts';
import { openStore, type Store } from '../open-store.ts';
import { writeLine } from '../settings/write-messages.ts';
import {
  type Command,
  type CommandCall,
  type CommandResult,
  done,
  failed,
  someRefused,
} from './command.ts';
import { formats, type PlantRecord, type Records } from './format.ts';
import { createProgress, plantCount, type Progress } from './progress.ts';
import { openSource } from './source.ts';

/** Creates the plant of each record of a file or of standard input. */
export const importPlants: Command = {
  argument: '[FROM]',
  help: `Creates the plant of each line of the file FROM, or of standard input (also -):
lines of JSON or CSV (RFC 4180), as export writes them.
A refused line is reported by its number on standard error, and the import
continues. Creating a plant that exists already changes nothing, so an
interrupted import can be run again. Stop the server of a SQLite database first.
The header of CSV names the columns; one of an optional member may be missing.
An empty field is absent, and a last record without a line end is refused,
because it may be cut. A record that cannot be read ends the import: correct it
and import the file again.`,
  options: {
    format: 'default: csv for a file named .csv, else ndjson',
    strict: 'stop at the first refused line',
  },
  async run(call) {
    const source = await openSource(call.file, call.stdin);
    if (source.isErr()) return failed(source.error);
    const plants = new Import(call);
    try {
      return await importRecords(plants, source.value, call);
    } finally {
      await plants.close();
    }
  },
};

async function importRecords(
  plants: Import,
  source: AsyncIterable<Buffer>,
  call: CommandCall,
): Promise<CommandResult> {
  const { progress } = plants;
  let unread: string | undefined;
  for await (const read of readRecords(source, call)) {
    if (read.isOk()) await plants.add(read.value);
    else unread = read.error;
    if (plants.isStopped) break;
    progress.show(() => plants.summary);
  }
  await plants.finish();
  progress.clear();
  const { hasBegun, failure, isStopped } = plants;
  if (hasBegun || (failure ?? unread) === undefined) writeLine(call.stdout, plants.summary);
  if (failure !== undefined) return failed(failure);
  // In strict mode, a record that was refused before it has stopped the import.
  if (unread !== undefined && !isStopped)
    return failed(hasBegun ? `${unread}; ${continueAdvice}` : unread);
  return plants.refused > 0 ? someRefused : done;
}

const continueAdvice =
  'the records before it that were not refused are in the database, and nothing after it was ' +
  'read; correct this and import the file again';

/** Reads the records of a source. An error is the last result, with a message for the operator. */
async function* readRecords(
  chunks: AsyncIterable<Buffer>,
  { file, format: name }: CommandCall,
): Records {
  const format = await formats[name ?? (/\.csv$/i.test(file ?? '') ? 'csv' : 'ndjson')]();
  try {
    yield* format.read(chunks);
  } catch (thrown) {
    yield err(`cannot read ${file ?? 'standard input'}: ${fileErrorReason(thrown)}`);
  }
}

/** Limits of a batch; a single plant may be longer. Text in UTF-16 code units. */
const maxBatch = { plants: 4_000, text: 4 * 2 ** 20 };

/**
 * Creates plants in batches, each while the next one is being collected. The database is opened for
 * the first plant, so that an import without one creates none.
 */
class Import {
  readonly progress: Progress;
  refused = 0;
  /** Why it stopped, if the database failed. */
  failure: string | undefined;
  readonly #call: CommandCall;
  readonly #log: Log;
  #store: Store | undefined;
  #created = 0;
  #existing = 0;
  #batch: PlantRecord[] = [];
  #text = 0;
  #creating: Promise<void> = Promise.resolve();

  constructor(call: CommandCall) {
    this.#call = call;
    this.#log = createLog('pretty', call.stderr);
    this.progress = createProgress(call);
  }

  /** In strict mode, no line after a refused one is created. */
  get isStopped(): boolean {
    return this.failure !== undefined || (this.#call.strict && this.refused > 0);
  }

  get hasBegun(): boolean {
    return this.#store !== undefined || this.refused > 0;
  }

  get summary(): string {
    const where = this.#store?.table === undefined ? '' : ` in ${this.#store.table}`;
    const created = `${plantCount(this.#created)} created${where}`;
    return `${created}, ${this.#existing} already there, ${this.refused} refused`;
  }

  async add(records: readonly PlantRecord[]): Promise<void> {
    for (const record of records) {
      this.#batch.push(record);
      if (record.decoded.isOk()) this.#text += textLength(record.decoded.value);
      const isFull = this.#batch.length >= maxBatch.plants || this.#text >= maxBatch.text;
      const isLast = this.#call.strict && record.decoded.isErr();
      if (isFull || isLast) await this.#flush();
      if (isLast) await this.#creating;
    }
  }

  async finish(): Promise<void> {
    await this.#flush();
    await this.#creating;
  }

  async close(): Promise<void> {
    await this.#store?.close();
    this.#log.flush();
  }

  async #flush(): Promise<void> {
    await this.#creating;
    if (!this.isStopped) this.#creating = this.#create(this.#batch);
    this.#batch = [];
    this.#text = 0;
  }

  async #create(records: readonly PlantRecord[]): Promise<void> {
    const isEmpty = records.every(({ decoded }) => decoded.isErr());
    const store = isEmpty ? this.#store : await this.#open();
    if (this.failure !== undefined) return;
    const create = createInTurn(store);
    const creates = records.map((record) => ({
      record,
      result: record.decoded.asyncAndThen(create),
    }));
    for (const { record, result } of creates) {
      const created = await result;
      if (created.isErr()) this.#onError(record, created.error);
      else if (created.value === 'unchanged') this.#existing += 1;
      else this.#created += 1;
    }
  }

  async #open(): Promise<Store | undefined> {
    if (this.#store !== undefined) return this.#store;
    const opened = await openStore(this.#call.database, this.#log);
    if (opened.isOk()) this.#store = opened.value;
    else this.failure = opened.error;
    return this.#store;
  }

  #onError(record: PlantRecord, error: CreateError): void {
    const name = nameOf(record);
    if (typeof error !== 'string' && error.kind === 'store-unavailable') {
      if (this.isStopped) return;
      this.failure = `stopped at ${name}: ${error.reason}; run it again to continue`;
    } else {
      this.refused += 1;
      this.progress.writeLine(`${name}: ${typeof error === 'string' ? error : reasonOf(error)}`);
    }
  }
}

/** Why a record is not created: it is no plant, or an error of the store. */
type CreateError = string | IdTaken | PlantRefused | StoreUnavailable;

/**
 * Returns a function that creates plants of one id one after another, so that the first of the file
 * is created: a store may commit several batches at a time.
 */
function createInTurn(store: Store | undefined) {
  const inTurn = new Map<bigint, ReturnType<Store['create']>>();
  return (plant: NewPlant): ReturnType<Store['create']> => {
    if (store === undefined) throw new TypeError('a plant needs a store');
    const earlier = inTurn.get(plant.id);
    const created =
      earlier === undefined
        ? store.create(plant)
        : ResultAsync.fromSafePromise(earlier).andThen(() => store.create(plant));
    inTurn.set(plant.id, created);
    return created;
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
