import type { NewPlant } from '@plantstore/core';
import type { Session } from './session.ts';
import { type Dialect, insertStatement, readStatement } from './statements.ts';

/** What became of a plant: it is in the table, or another plant has its id. */
export type Outcome = 'kept' | 'id-taken';

type Content = { readonly name: string | null; readonly tag: string | null };

const byId = (one: NewPlant, other: NewPlant): number => (one.id < other.id ? -1 : 1);

const contentOf = ({ name, tag }: NewPlant): Content => ({ name, tag: tag ?? null });

/**
 * Inserts plants, or compares them with those that are there; when it returns, what it tells is
 * durable. The first statement commits by itself and inserting is idempotent, so after any failure
 * the whole can be repeated. Of several plants with one id, the first is inserted.
 *
 * @param timeoutMs - how long each of the two statements may take
 */
export const commitBatch = async (
  session: Session,
  dialect: Dialect,
  plants: readonly NewPlant[],
  timeoutMs: () => number,
): Promise<Outcome[]> => {
  const firsts = new Map<bigint, NewPlant>();
  for (const plant of plants) if (!firsts.has(plant.id)) firsts.set(plant.id, plant);
  // Sorted, because batches that take their locks in different orders deadlock.
  const sorted = [...firsts.values()].toSorted(byId);

  const inserted = await session.query(insertStatement(dialect, sorted), timeoutMs());
  const kept = new Map<bigint, Content>();
  for (const [id] of inserted) {
    const plant = firsts.get(BigInt(id ?? ''));
    if (plant !== undefined) kept.set(plant.id, contentOf(plant));
  }

  const others = [...firsts.keys()].filter((id) => !kept.has(id));
  if (others.length > 0) {
    // Compared here and not in SQL, where a collation could call two texts equal.
    for (const [id, name, tag] of await session.query(
      readStatement(dialect, others),
      timeoutMs(),
    )) {
      kept.set(BigInt(id ?? ''), { name: name ?? null, tag: tag ?? null });
    }
  }

  return plants.map((plant) => {
    const found = kept.get(plant.id);
    if (found === undefined) throw new Error('a plant was removed, or is hidden from this role');
    const { name, tag } = contentOf(plant);
    return found.name === name && found.tag === tag ? 'kept' : 'id-taken';
  });
};
