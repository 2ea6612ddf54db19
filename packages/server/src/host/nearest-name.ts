/** Returns how many insertions, removals, replacements and swaps of neighbours lead from one text to another. */
const editDistance = (from: string, to: string): number => {
  // Rows of the table of optimal string alignment; a swap needs the one before the last.
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index);
  const at = (row: readonly number[], index: number) => row[index] ?? Infinity;
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = at(last, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = isSwap ? at(beforeLast, j - 2) + 1 : Infinity;
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced, swapped));
    }
    [beforeLast, last] = [last, row];
  }
  return at(last, to.length);
};

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
  const rest = restOf(name);
  let nearest: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const target = restOf(candidate);
    const limit = Math.min(Math.floor(target.length / 3), 3);
    if (Math.abs(target.length - rest.length) > limit) continue;
    const distance = editDistance(rest, target);
    if (distance <= limit && distance < (nearest?.distance ?? Infinity)) {
      nearest = { candidate, distance };
    }
  }
  return nearest?.candidate;
};
