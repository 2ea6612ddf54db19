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
import { errorMessages } from '@plantstore/core/errors';
import { err, ok, type Result } from 'neverthrow';
import { createLog } from '../log.ts';
import { openStore } from '../open-store.ts';
import {
  type CommandCall,
  type CommandResult,
  done,
  failed,
  type Command,
  someRefused,
} from './command.ts';
import { fileErrorReason } from './file-error-reason.ts';
import { type Decoded, formatOf } from './formats.ts';
import { createProgress, percent, plantCount, type Progress } from './progress.ts';
import { readRecords } from './read-records.ts';

/** Limits of a batch; a single plant may be longer. Text in UTF-16 code units. */
const maxBatch = { plants: 4_000, text: 4 * 2 ** 20 };

/** A record and the numbers of its lines: `line 7`, or `lines 7 to 9`. */
type Line = { readonly firstLine: number; readonly lastLine: number; readonly decoded: Decoded };

const nameOf = ({ firstLine, lastLine }: Line): string =>
  firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine} to ${lastLine}`;

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

  const refuse = (line: Line, reason: string): void => {
    counts.refused += 1;
    progress.writeLine(`${nameOf(line)}: ${reason}`);
  };

  const onError = (line: Line, error: IdTaken | PlantRefused | StoreUnavailable): void => {
    switch (error.kind) {
      case 'id-taken':
        refuse(line, errorMessages['id-taken']);
        break;
      case 'plant-refused':
        refuse(line, error.message);
        break;
      case 'store-unavailable':
        if (!isStopped()) failure = `stopped at ${nameOf(line)}: ${error.reason}`;
        break;
    }
  };

  const create = async (lines: readonly Line[]): Promise<void> => {
    const results = lines.map(({ decoded }) =>
      decoded.isOk() ? repository.create(decoded.value) : undefined,
    );
    for (const [index, line] of lines.entries()) {
      const result = await results[index];
      if (line.decoded.isErr()) refuse(line, line.decoded.error);
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
    add: async (lines: readonly Line[]): Promise<void> => {
      for (const line of lines) {
        if (isStopped()) return;
        batch.push(line);
        if (line.decoded.isOk()) text += textOf(line.decoded.value);
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
};

/**
 * Reads the lines of a source after the header, if there is one. An error is the last result, with a message for the
 * operator; that of a wrong header is the only result.
 */
async function* readLines(
  source: Readable,
  { format: name, file }: CommandCall,
): AsyncGenerator<Result<readonly Line[], string>, void, void> {
  const { header, createScan, createDecode } = formatOf(name, file);
  let decode = header === '' ? createDecode([]) : undefined;
  try {
    for await (const records of readRecords(source, createScan())) {
      const lines: Line[] = [];
      for (const { firstLine, lastLine, fields } of records) {
        if (decode !== undefined) {
          lines.push({ firstLine, lastLine, decoded: fields.andThen(decode) });
          continue;
        }
        decode = fields.map(createDecode).unwrapOr(undefined);
        if (decode === undefined) {
          yield err(`line ${firstLine} must name each column once: ${header.trim()}`);
          return;
        }
      }
      if (lines.length > 0) yield ok(lines);
    }
  } catch (thrown) {
    yield err(`cannot read ${file ?? 'standard input'}: ${fileErrorReason(thrown)}`);
  }
}

const sizeOf = async (file: string | undefined): Promise<number> =>
  file === undefined ? 0 : ((await stat(file).catch(() => undefined))?.size ?? 0);

type Lines = ReturnType<typeof readLines>;

/** Creates the plants of the first lines that were read, and of those after them. */
const importLines = async (
  first: Awaited<ReturnType<Lines['next']>>,
  lines: Lines,
  bytesRead: () => number,
  call: CommandCall,
  repository: PlantRepository,
): Promise<CommandResult> => {
  const progress = createProgress(call);
  const imported = createImport(repository, call.strict, progress);
  const { counts } = imported;
  const size = await sizeOf(call.file);
  const summary = () => `${plantCount(counts.created)} in the database, ${counts.refused} refused`;
  let failure: string | undefined;
  for (let read = first; read.done !== true; read = await lines.next()) {
    if (read.value.isOk()) await imported.add(read.value.value);
    else failure = read.value.error;
    if (imported.isStopped()) break;
    progress.show(() => `${summary()} ${percent(bytesRead(), size)}`);
  }
  await imported.finish();
  failure ??= imported.failure();
  progress.clear();
  call.stdout.write(`${summary()}\n`);
  if (failure !== undefined) return failed(`${failure}; run it again to continue`);
  return counts.refused > 0 ? someRefused : done;
};

/** Bytes of a read; larger than the default, because each has a fixed cost. */
const highWaterMark = 2 ** 18;

/** Creates the plant of each record of a file or of standard input. */
export const importPlants: Command = {
  argument: '[FROM]',
  help: `Creates the plant of each line of the file FROM, or of standard input: lines of
JSON or CSV (RFC 4180), as export writes them. A refused line is reported by its
number on standard error, and the import continues. Creating a plant that exists
already changes nothing, so an interrupted import can be run again. Stop the
server of a SQLite database first.
In CSV, the first line names the columns, an empty field is absent, and "" is
empty text. A quote opens a field only at its start. After a record that cannot
be read, reading continues in its second line.`,
  options: ['format', 'strict'],
  async run(call) {
    const { file, database, stderr } = call;
    const source: Readable & Partial<Pick<ReadStream, 'bytesRead'>> =
      file === undefined ? call.stdin() : createReadStream(file, { highWaterMark });
    const lines = readLines(source, call);
    try {
      // Read first: a source that cannot be read must not create a database.
      const first = await lines.next();
      if (first.done !== true && first.value.isErr()) return failed(first.value.error);
      const log = createLog('pretty', stderr);
      const store = await openStore(database, log);
      if (store.isErr()) return failed(store.error);
      try {
        return await importLines(first, lines, () => source.bytesRead ?? 0, call, store.value);
      } finally {
        await store.value.close();
        log.flush();
      }
    } finally {
      // Closes the source.
      await lines.return();
    }
  },
};
