import { assertNewPlant, type NewPlant, type PlantRepository } from '@plantstore/core';
import { encodePlant } from '@plantstore/core/wire';
import { err, ok, ResultAsync } from 'neverthrow';

/** Creates a repository in the SQLite database of a Durable Object, whose statements are atomic. */
export const createDurableRepository = (sql: SqlStorage): PlantRepository => {
  sql.exec('CREATE TABLE IF NOT EXISTS plants (id TEXT PRIMARY KEY, plant TEXT NOT NULL)');
  const create = async (plant: NewPlant) => {
    assertNewPlant(plant);
    const { id } = plant;
    const json = encodePlant(plant);
    sql.exec('INSERT OR IGNORE INTO plants VALUES (?, ?)', `${id}`, json);
    const kept = sql.exec('SELECT plant FROM plants WHERE id = ?', `${id}`).one();
    return kept['plant'] === json ? ok() : err({ kind: 'id-taken' as const, id });
  };
  return { create: (plant) => new ResultAsync(create(plant)) };
};
