/**
 * Limits the number of requests in flight. An entry expires after `maxMs` milliseconds, because
 * workerd cancels a request whose client has disconnected, without running its `finally` blocks.
 */
export function createInFlight(maxInFlight: number, maxMs: number): InFlight {
  const entries = new Set<Entry>();
  return {
    enter() {
      const now = performance.now();
      for (const entry of entries) {
        // A set iterates in insertion order, which is the order of expiry.
        if (entry.expiresAt > now) break;
        entries.delete(entry);
      }
      if (entries.size >= maxInFlight) return undefined;
      const entry = { expiresAt: now + maxMs };
      entries.add(entry);
      return entry;
    },
    leave: (entry) => void entries.delete(entry),
  };
}

/** Adds a request, unless the limit is reached, and removes it. */
type InFlight = { readonly enter: () => Entry | undefined; readonly leave: (entry: Entry) => void };
type Entry = { readonly expiresAt: number };
