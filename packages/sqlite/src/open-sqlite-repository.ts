import { resolve } from 'node:path';
import type { IdTaken, NewPlant, PlantRepository, StoreUnavailable } from '@plantstore/core';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { openDatabaseFile } from './database-file.ts';
import type { Database } from './node-sqlite.ts';
import { foreignFileError, openErrorOf, type OpenSqliteError } from './open-error.ts';
import { createPlantsTable } from './plants-table.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';

/** A plant repository on a database file. */
export type SqliteRepository = PlantRepository & {
  /**
   * Gives the file up; creates that come later answer `store-unavailable`. Closing again does
   * nothing. A plant that was answered is on the disk whether or not this is ever called.
   */
  readonly close: () => Promise<void>;
};

const unavailable = (reason: string, cause?: unknown): StoreUnavailable => ({
  kind: 'store-unavailable',
  reason,
  ...(cause !== undefined && { cause }),
});

const repositoryOn = (database: Database): SqliteRepository => {
  const table = createPlantsTable(database);
  let isOpen = true;

  const create = async (plant: NewPlant): Promise<Result<void, IdTaken | StoreUnavailable>> => {
    if (!isOpen) return err(unavailable('the database is closed'));
    try {
      const [outcome] = table.createAll([plant]);
      return outcome === 'kept' ? ok() : err({ kind: 'id-taken', id: plant.id });
    } catch (thrown) {
      const failure = sqliteFailureOf(thrown);
      if (failure === undefined) throw thrown;
      return err(unavailable(`the database cannot be written: ${failure}`, thrown));
    }
  };

  return {
    create: (plant) => new ResultAsync(create(plant)),
    close: async () => {
      if (isOpen) database.close();
      isOpen = false;
    },
  };
};

const open = async (path: string): Promise<Result<SqliteRepository, OpenSqliteError>> => {
  try {
    const opened = openDatabaseFile(path);
    return 'kind' in opened ? err(foreignFileError(path, opened)) : ok(repositoryOn(opened));
  } catch (thrown) {
    const error = openErrorOf(path, thrown);
    if (error === undefined) throw thrown;
    return err(error);
  }
};

/**
 * Opens a plant repository on a SQLite file, through Node's own `node:sqlite`. A file that is not
 * there is made. A create answers once the plant is on the disk (`journal_mode=WAL`,
 * `synchronous=FULL`), so it survives `kill -9` and a power cut. The file has one owner: while it is
 * open here, no other process can use it.
 *
 * @param options - `path`: the database file, relative to the working directory or absolute
 * @returns the repository, or why the file cannot be used, with a `message` for the operator
 * @example
 * ```ts
 * import { createPlant } from '@plantstore/core';
 * import { openSqliteRepository } from '@plantstore/sqlite';
 *
 * const opened = await openSqliteRepository({ path: 'plants.db' });
 * if (opened.isErr()) throw new Error(opened.error.message);
 * const repository = opened.value;
 * await createPlant(repository, { id: 7, name: 'Monstera' });
 * await repository.close();
 * ```
 */
export const openSqliteRepository = (options: {
  readonly path: string;
}): ResultAsync<SqliteRepository, OpenSqliteError> => new ResultAsync(open(resolve(options.path)));
