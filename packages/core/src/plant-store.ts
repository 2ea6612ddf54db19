import type { ResultAsync } from 'neverthrow';
import type { PlantRepository, StoreUnavailable } from './plant-repository.ts';

/**
 * A store that a program opens, watches and closes: a {@link PlantRepository} with the methods that
 * a program needs for its health checks, its metrics and its end. `createPlant` and the server's
 * library need a {@link PlantRepository} only.
 */
export interface PlantStore extends PlantRepository {
  /**
   * Checks, without storing a plant, that the store can store plants now. Resolves to
   * `store-unavailable` if it cannot, or is closed.
   */
  check(): ResultAsync<void, StoreUnavailable>;
  /** Returns the number of creates that have not settled. */
  waiting(): number;
  /**
   * Waits until the creates that were called before have settled, and releases the resources of the
   * store. Later creates are `store-unavailable`; further calls have no effect. Acknowledged plants
   * are durable even if this is never called. May resolve to a report of the store.
   */
  close(): Promise<unknown>;
}
