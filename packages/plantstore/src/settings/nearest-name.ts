/** Returns what to do about an unknown name, to follow it in a message. */
export function suggestion(...names: Parameters<typeof nearestName>): string {
  const nearest = nearestName(...names);
  return nearest === undefined ? 'see --help' : `did you mean ${nearest}?`;
}

/**
 * Returns the candidate that is closest to a misspelt name, ignoring case. All begin with the prefix; a third of the
 * other characters of the candidate may differ, and at most 3.
 */
export function nearestName(
  name: string,
  candidates: readonly string[],
  prefix: string,
): string | undefined {
  const restOf = (text: string) => text.slice(prefix.length).toLowerCase();
  for (let edits = 0; edits <= 3; edits += 1) {
    const nearest = candidates.find((candidate) => {
      const rest = restOf(candidate);
      return edits <= rest.length / 3 && isWithinDistance(edits, restOf(name), rest);
    });
    if (nearest !== undefined) return nearest;
  }
  return undefined;
}

/** Returns whether two strings are within an edit distance, with transpositions (Damerau-Levenshtein). */
function isWithinDistance(edits: number, from: string, to: string): boolean {
  if (from === to) return true;
  if (from[0] === to[0]) return isWithinDistance(edits, from.slice(1), to.slice(1));
  if (edits === 0) return false;
  const isSwap = from[0] === to[1] && from[1] === to[0];
  return (
    isWithinDistance(edits - 1, from.slice(1), to.slice(1)) ||
    isWithinDistance(edits - 1, from.slice(1), to) ||
    isWithinDistance(edits - 1, from, to.slice(1)) ||
    (isSwap && isWithinDistance(edits - 1, from.slice(2), to.slice(2)))
  );
}
