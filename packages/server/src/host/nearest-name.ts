/** Whether so many insertions, removals, replacements and swaps of neighbours turn one text into another. */
const isWithin = (edits: number, from: string, to: string): boolean => {
  if (from === to) return true;
  if (from[0] === to[0]) return isWithin(edits, from.slice(1), to.slice(1));
  if (edits === 0) return false;
  const isSwap = from[0] === to[1] && from[1] === to[0];
  return (
    isWithin(edits - 1, from.slice(1), to.slice(1)) ||
    isWithin(edits - 1, from.slice(1), to) ||
    isWithin(edits - 1, from, to.slice(1)) ||
    (isSwap && isWithin(edits - 1, from.slice(2), to.slice(2)))
  );
};

const maxEdits = 3;

/**
 * Returns the candidate that a misspelt name is closest to. All begin with the prefix; of the rest
 * of the candidate, a third may differ, and 3 characters at most. Case does not count.
 */
export const nearestName = (
  name: string,
  candidates: readonly string[],
  prefix: string,
): string | undefined => {
  const restOf = (text: string) => text.slice(prefix.length).toLowerCase();
  for (let edits = 0; edits <= maxEdits; edits += 1) {
    const nearest = candidates.find((candidate) => {
      const rest = restOf(candidate);
      return edits <= rest.length / 3 && isWithin(edits, restOf(name), rest);
    });
    if (nearest !== undefined) return nearest;
  }
  return undefined;
};
