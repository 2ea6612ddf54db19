import { statSync } from 'node:fs';
import { err, ok, type Result } from 'neverthrow';
import { openError, type OpenSqliteError } from '../open/errors.ts';
import { explain } from '../open/access.ts';
import { absolutePath, resolveLinks } from '../open/path.ts';
import { findUnusable } from '../open/table.ts';
import { walSize } from '../open/wal.ts';
import { countSql, findDamage, openForReading } from './reader.ts';

/**
 * Checks a SQLite file with `integrity_check`, while a repository may have it open. Blocks the
 * thread while it reads. A repository can be opened on a file that this function does not refuse.
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
  return absolutePath(path).andThen((absolute) =>
    openForReading(absolute).andThen((database) => {
      try {
        const file = resolveLinks(absolute);
        const damage = findDamage(database);
        const isIntact = damage.length === 0;
        const unusable = isIntact ? findUnusable(database, false) : undefined;
        if (unusable !== undefined) return err(openError(absolute, unusable));
        const plants = isIntact ? Number(database.read(countSql)) : 0;
        return ok({ plants, size: statSync(file).size, walSize: walSize(file), damage });
      } catch (thrown) {
        return err(explain(absolute, thrown));
      } finally {
        database.close();
      }
    }),
  );
}

/** Result of checking a SQLite file. */
export type PlantsCheck = {
  /** Number of plants; 0 for a damaged file. */
  readonly plants: number;
  /** Size of the file, in bytes. */
  readonly size: number;
  /** Size of the WAL file, in bytes; 0 when it does not exist. */
  readonly walSize: number;
  /** Output of SQLite's `integrity_check`, at most 100 lines. Empty for an intact file. */
  readonly damage: readonly string[];
};
