import { statSync } from 'node:fs';
import { err, ok, type Result } from 'neverthrow';
import type { OpenSqliteError } from '../open/errors.ts';
import { walSize } from '../open/wal.ts';
import { countPlants } from './plant-reader.ts';
import { Reader } from './reader.ts';

/**
 * Checks a SQLite file with `integrity_check`, and reads every plant, while a repository may have
 * it open. Blocks the thread while it reads. A repository can be opened on a file that this
 * function does not refuse.
 *
 * @returns the result of the check, or the reason why the file cannot be read, such as an I/O error
 * @example
 * ```ts
 * import { checkPlants } from '@plantstore/sqlite';
 *
 * const checked = checkPlants('plants.db');
 * if (checked.isErr()) throw new Error(checked.error.message);
 * console.log(checked.value.damage.length === 0 ? 'intact' : checked.value.damage);
 * ```
 */
export function checkPlants(path: string): Result<PlantsCheck, OpenSqliteError> {
  return Reader.open(path, 'own').andThen((reader) => {
    try {
      return check(reader);
    } catch (thrown) {
      return err(reader.explain(thrown));
    } finally {
      reader.close();
    }
  });
}

/** Result of checking a SQLite file. */
export type PlantsCheck = {
  /** Number of plants; 0 for a damaged file. */
  readonly plants: number;
  /** Size of the file, in bytes. */
  readonly size: number;
  /** Size of the WAL file, in bytes; 0 when it does not exist or is inaccessible. */
  readonly walSize: number;
  /** Output of SQLite's `integrity_check`, at most 100 lines. Empty for an intact file. */
  readonly damage: readonly string[];
};

function check(reader: Reader): Result<PlantsCheck, OpenSqliteError> {
  const damage = reader.findDamage();
  const sizes = { size: statSync(reader.file).size, walSize: walSize(reader.file) ?? 0 };
  if (damage.length > 0) {
    const overwritten = reader.findOverwritten();
    return overwritten === undefined ? ok({ plants: 0, ...sizes, damage }) : err(overwritten);
  }
  return countPlants(reader).map((plants) => ({ plants, ...sizes, damage }));
}
