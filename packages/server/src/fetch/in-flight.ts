/**
 * Limits the number of requests in flight. Returns a function that adds one, unless the limit is
 * reached, and returns the function that removes it. One expires after `maxMs` milliseconds,
 * because workerd cancels a request whose client has disconnected, without running its `finally`
 * blocks.
 */
export function createInFlight(maxInFlight: number, maxMs: number): () => (() => void) | undefined {
  const entries = new Set<{ readonly expiresAt: number }>();
  return () => {
    const now = performance.now();
    for (const entry of entries) {
      // A set iterates in insertion order, which is the order of expiry.
      if (entry.expiresAt > now) break;
      entries.delete(entry);
    }
    if (entries.size >= maxInFlight) return undefined;
    const entry = { expiresAt: now + maxMs };
    entries.add(entry);
    return () => void entries.delete(entry);
  };
}
