type Entry = { readonly expiresAt: number };

/** The requests that are in flight. */
export type InFlight = {
  /** Adds a request; returns `undefined` if the limit is reached. */
  readonly enter: () => Entry | undefined;
  readonly leave: (entry: Entry) => void;
};

/**
 * Limits the number of requests in flight. An entry expires after `maxMs` milliseconds, because workerd
 * cancels a request whose client has disconnected, without running its `finally` blocks.
 */
export const createInFlight = (maxInFlight: number, maxMs: number): InFlight => {
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
    leave(entry) {
      entries.delete(entry);
    },
  };
};
