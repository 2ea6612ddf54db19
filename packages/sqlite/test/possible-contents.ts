import type { NewPlant } from '@plantstore/core';

/** Result of a create. */
export type Outcome = 'ok' | 'id-taken' | 'store-unavailable';

/** Possible contents of a store: plants without their ids, by id. */
export type Contents = ReadonlyMap<bigint, string>;

const contentOf = ({ name, tag }: NewPlant): string => JSON.stringify([name, tag ?? null]);

/** Returns the results of the creates on a Map, and the contents afterwards. */
const createIn = (before: Contents, plants: readonly NewPlant[]) => {
  const after = new Map(before);
  const outcomes = plants.map((plant): Outcome => {
    const stored = after.get(plant.id);
    if (stored === undefined) after.set(plant.id, contentOf(plant));
    return stored === undefined || stored === contentOf(plant) ? 'ok' : 'id-taken';
  });
  return { after, outcomes };
};

const withoutDuplicates = (candidates: readonly Contents[]): Contents[] => [
  ...new Map(
    candidates.map((contents) => [
      [...contents]
        .map(([id, content]) => `${id} ${content}`)
        .toSorted()
        .join('\n'),
      contents,
    ]),
  ).values(),
];

/**
 * Returns the contents that remain possible after a batch with these outcomes; throws when none is possible.
 * A batch that is store-unavailable is stored completely, or no plant of it is.
 */
export const narrow = (
  candidates: readonly Contents[],
  plants: readonly NewPlant[],
  outcomes: readonly Outcome[],
): readonly Contents[] => {
  const results = candidates.map((contents) => createIn(contents, plants));
  const possible = outcomes.every((outcome) => outcome === 'store-unavailable')
    ? [...candidates, ...results.map(({ after }) => after)]
    : results
        .filter((result) => result.outcomes.every((one, index) => one === outcomes[index]))
        .map(({ after }) => after);
  if (possible.length === 0) throw new Error(`no possible contents explain ${outcomes.join(', ')}`);
  return withoutDuplicates(possible);
};
