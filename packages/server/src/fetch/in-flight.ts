type Place = { readonly expiresAt: number };

/** The requests that are in flight at a time. */
export type InFlight = {
  /** Takes a place; `undefined` where there is none. */
  readonly enter: () => Place | undefined;
  readonly leave: (place: Place) => void;
};

/**
 * Limits how many requests are in flight. A place expires after `maxMs` milliseconds, because workerd
 * drops the work of a request whose client has left, and never runs its `finally`.
 */
export const createInFlight = (maxInFlight: number, maxMs: number): InFlight => {
  const places = new Set<Place>();
  return {
    enter() {
      const now = performance.now();
      for (const place of places) {
        // They are in the order in which they expire.
        if (place.expiresAt > now) break;
        places.delete(place);
      }
      if (places.size >= maxInFlight) return undefined;
      const place = { expiresAt: now + maxMs };
      places.add(place);
      return place;
    },
    leave(place) {
      places.delete(place);
    },
  };
};
