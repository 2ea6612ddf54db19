import { statSync } from 'node:fs';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { FileIdentity, FromWorker, ToWorker, WorkerData } from './commit-protocol.ts';
import { openDatabaseFile } from './database-file.ts';
import type { Database } from './node-sqlite.ts';
import { foreignFileError, openErrorOf } from './open-error.ts';
import { createPlantsTable, type PlantsTable } from './plants-table.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';

const identityOf = (path: string): FileIdentity | undefined => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && { device: found.dev, inode: found.ino };
};

const isSame = (one: FileIdentity | undefined, other: FileIdentity | undefined): boolean =>
  one?.device === other?.device && one?.inode === other?.inode;

const gone = (path: string): string =>
  `${path} was removed or replaced while it was in use; put it back, or stop and start anew`;

const open = ({ path, identity }: WorkerData): Database | FromWorker => {
  if (identity !== undefined && !isSame(identity, identityOf(path))) {
    return { kind: 'cannot-open', error: { kind: 'replaced', path, message: gone(path) } };
  }
  try {
    const opened = openDatabaseFile(path);
    return 'kind' in opened
      ? { kind: 'cannot-open', error: foreignFileError(path, opened) }
      : opened;
  } catch (thrown) {
    const error = openErrorOf(path, thrown);
    if (error === undefined) throw thrown;
    return { kind: 'cannot-open', error };
  }
};

const commit = (table: PlantsTable, { batch }: ToWorker & { kind: 'commit' }): FromWorker => {
  try {
    return { kind: 'committed', taken: table.createAll(batch) };
  } catch (cause) {
    const failure = sqliteFailureOf(cause);
    if (failure === undefined) throw cause;
    const reason = `the database cannot be written: ${failure}`;
    // After a full disk the connection is as good as before; after anything else who knows.
    return { kind: failure === 'disk-full' ? 'refused' : 'failed', reason, cause };
  }
};

const serve = (port: MessagePort, data: WorkerData): void => {
  const database = open(data);
  if ('kind' in database) {
    port.postMessage(database);
    return;
  }
  const identity = identityOf(data.path);
  const table = createPlantsTable(database);
  const end = () => {
    database.close();
    port.close();
  };
  const answer = (message: ToWorker & { kind: 'commit' }): FromWorker => {
    const result = commit(table, message);
    // A plant in a file that nobody can find any more is not kept.
    return result.kind === 'committed' && !isSame(identity, identityOf(data.path))
      ? { kind: 'failed', reason: gone(data.path), cause: undefined }
      : result;
  };
  port.on('message', (message: ToWorker) => {
    if (message.kind === 'close') {
      end();
      return;
    }
    const told = answer(message);
    port.postMessage(told);
    if (told.kind === 'failed') end();
  });
  if (identity !== undefined) port.postMessage({ kind: 'opened', identity });
};

if (parentPort !== null) serve(parentPort, workerData as WorkerData);
