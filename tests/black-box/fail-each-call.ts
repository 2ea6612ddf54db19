// Runs each command, and creates plants in a store, while each system call on files of a folder fails in turn (disk.c).
// Prints a line of JSON for each failed call. Standard output must be a file of the folder that is appended to.
// Arguments: folder, task, seed. File descriptor 3 receives the lines.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, type Writable } from 'node:stream';
import type { NewPlant } from '@plantstore/core';
import { checkPlants, openSqliteRepository, readPlants } from '@plantstore/sqlite';
import { runsAll } from '@plantstore/test-support/sample';
import { runCommand } from '../../packages/plantstore/src/commands/run-command.ts';
import { skipReopenPause } from '../../packages/sqlite/test/skip-reopen-pause.ts';

const [folder = '', task = '', seed = '1'] = process.argv.slice(2);
const failed = process.env['DISK_FAILED'] ?? '';
const inFolder = (name: string) => join(folder, name);
const [database, copy, input, output] = ['plants.db', 'copy.db', 'in.ndjson', 'out'].map(
  inFolder,
) as [string, string, string, string];

const { EIO, ENOSPC, EDQUOT, EROFS, EMFILE } = constants.errno;
/** 0 makes writes short. */
const errors: Readonly<Record<string, number>> = {
  EIO,
  ENOSPC,
  'short write': 0,
  ...(runsAll && { EDQUOT, EROFS, EMFILE }),
};

/** If everything runs, every call fails with EIO in turn, and some with each other error; else a few with each. */
let random = Number(seed);
const stride = (error: number): number => {
  random = (random * 48_271) % 2_147_483_647;
  if (!runsAll) return 1 + (random % 30);
  return error === EIO ? 1 : 1 + (random % 8);
};

const plants = Array.from({ length: 60 }, (_, id): NewPlant => ({
  id: BigInt(id),
  name: `plant ${id} ${'x'.repeat((id * 131) % 700)}`,
}));
const lines = plants.map(({ id, name }) => `{"id":${id},"name":"${name}"}\n`).join('');

/** What a run is judged by: its messages, whether it claims to be complete, and what is wrong. */
type Run = {
  readonly done: boolean;
  readonly messages: string;
  readonly faults: readonly string[];
};

const has = async (path: string, expected: readonly NewPlant[]): Promise<boolean> => {
  const found: string[] = [];
  for await (const read of readPlants({ path })) {
    if (read.isErr()) return false;
    found.push(`${read.value.id} ${read.value.name}`);
  }
  return found.join('\n') === expected.map(({ id, name }) => `${id} ${name}`).join('\n');
};

const command = async (...argv: readonly string[]) => {
  const stderr = new PassThrough();
  // What standard output is if it is a file: it is not usable after an error.
  const { constructor: Output } = process.stdout as unknown as {
    constructor: new (file: number, options: object) => Writable;
  };
  const stdout = new Output(1, { autoClose: false });
  stdout.on('error', () => {});
  const streams = { stdin: () => Readable.from([]), stdout, stderr };
  const status = await runCommand(argv, {}, streams);
  return { done: status === 0, messages: String(stderr.read() ?? '') };
};

const sqlite = (path: string) => ['--database', `sqlite:${path}`];

/** Each task, and what it must have done if it is done. */
const tasks: Readonly<Record<string, () => Promise<Omit<Run, 'faults'>>>> = {
  backup: async () => command('backup', copy, ...sqlite(database)),
  restore: async () => command('restore', database, ...sqlite(copy)),
  check: async () => command('check', ...sqlite(database)),
  export: async () => command('export', ...sqlite(database)),
  import: async () => command('import', input, ...sqlite(copy)),
  async store() {
    const reasons = new Set<string>();
    const open = async (attempts = 5) => {
      const opened = await openSqliteRepository({ path: copy });
      if (opened.isOk()) return opened.value;
      reasons.add(opened.error.message);
      if (attempts === 0) throw new Error('the store does not open');
      return open(attempts - 1);
    };
    const repository = await open();
    for (const plant of plants.slice(0, 6)) {
      let attempts = 0;
      while (
        (
          await repository.create(plant).mapErr((error) => {
            reasons.add('reason' in error ? `${copy}: ${error.reason}` : error.kind);
          })
        ).isErr()
      ) {
        if ((attempts += 1) > 5) throw new Error('the store does not recover');
        skipReopenPause();
      }
    }
    await repository.close();
    return { done: true, messages: [...reasons].join('; ') };
  },
};
const run = tasks[task]!;

const isComplete = async (): Promise<boolean> => {
  switch (task) {
    case 'check':
      // Its exit status is its result.
      return true;
    case 'export':
      return readFileSync(output, 'utf8') === lines;
    case 'store':
      return has(copy, plants.slice(0, 6));
    default:
      return existsSync(copy) && (await has(copy, plants));
  }
};

/** Whether a failed task may leave a part of its result, which running it again completes. */
const mayBePartial = task === 'import' || task === 'store';

/** Files that a task may leave: its database, the lock file, which is never removed, and those that SQLite removes later. */
const mayBeLeft = mayBePartial
  ? /^(plants|copy)\.db(-owner|-shm|-wal|-journal)?$/
  : /^(plants|copy)\.db(-owner|-shm|-wal)?$/;
const others = () =>
  readdirSync(folder).filter(
    (name) => !['in.ndjson', 'out'].includes(name) && !mayBeLeft.test(name),
  );

const reset = () => {
  for (const name of readdirSync(folder)) {
    if (!['plants.db', 'in.ndjson', 'out'].includes(name)) rmSync(inFolder(name));
  }
  truncateSync(output);
};

const seen = new Set<string>();

const judge = async (): Promise<Run> => {
  const faults: string[] = [];
  const result = await run().catch((thrown: unknown) => {
    faults.push(`thrown: ${String(thrown)}`);
    return { done: false, messages: '' };
  });
  delete process.env['DISK_FAILING_CALL'];
  if (result.done && !(await isComplete())) faults.push('done, but not complete');
  if (!result.done && !mayBePartial && existsSync(copy)) faults.push('failed, but left the copy');
  if (others().length > 0)
    faults.push(
      `left ${others()
        .join(', ')
        .replaceAll(/[0-9a-f]{12}/g, 'N')}`,
    );
  if (!(await has(database, plants))) faults.push('the source has changed');
  // Each task starts a thread: what failed in the same way is run again once.
  if (!result.done && !seen.has(result.messages)) {
    seen.add(result.messages);
    if (!mayBePartial) rmSync(copy, { force: true });
    truncateSync(output);
    const again = await run();
    if (!again.done || !(await isComplete())) faults.push(`does not recover: ${again.messages}`);
  }
  return { ...result, faults };
};

mkdirSync(folder, { recursive: true });
writeFileSync(input, lines);
const source = (await openSqliteRepository({ path: database }))._unsafeUnwrap();
await Promise.all(plants.map(async (plant) => source.create(plant)));
await source.close();
if (checkPlants(database)._unsafeUnwrap().damage.length > 0) throw new Error('damaged');

for (const [error, number] of Object.entries(errors)) {
  for (let call = 1; ; call += stride(number)) {
    reset();
    rmSync(failed, { force: true });
    process.env['DISK_FAILING_CALL'] = `${call} ${number}`;
    const judged = await judge();
    if (!existsSync(failed)) break;
    const name = readFileSync(failed, 'utf8');
    writeSync(3, `${JSON.stringify({ task, error, call, name, ...judged })}\n`);
  }
}
process.exit();
