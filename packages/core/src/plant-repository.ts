import type { ResultAsync } from 'neverthrow';
import type { NewPlant } from './plant.ts';

/** Another plant, with another name or tag, already has this id. Nothing was changed. */
export type IdTaken = {
  readonly kind: 'id-taken';
  /** The id that both plants have. */
  readonly id: bigint;
};

/**
 * The store cannot say that the plant is kept: it is unreachable, full, overloaded or closed.
 * The plant may or may not be there; creating it again settles it.
 */
export type StoreUnavailable = {
  readonly kind: 'store-unavailable';
  /** Why, in plain words for the operator's log. Never shown to a caller over HTTP. */
  readonly reason: string;
  /** What the store's driver reported, if anything. */
  readonly cause?: unknown;
};

/**
 * A rule of this repository's own does not allow the plant. Nothing was changed. Over HTTP, the
 * client gets 400 with this number and message.
 */
export type PlantRefused = {
  readonly kind: 'plant-refused';
  /** Which rule it was: an integer from 4000 to 4999, the range that the error table leaves free. */
  readonly error: number;
  /** Why, for the client: a sentence without a full stop. */
  readonly message: string;
};

/**
 * Where plants are kept. Every implementation passes the suite of
 * `@plantstore/core/repository-contract`.
 */
export interface PlantRepository {
  /**
   * Keeps a plant, atomically and exactly (the id as an int64, the text code point by code point):
   *
   * - the id is free: the plant is stored, and the result is `ok` only once it is as durable as
   *   this store ever makes it;
   * - the same plant (same id, name and tag; no tag differs from an empty one) is already there:
   *   `ok`, nothing changes, so a create can be repeated;
   * - a different plant has the id: `id-taken`, nothing changes;
   * - a rule of this repository's own does not allow the plant: `plant-refused`, nothing changes.
   *
   * Of racing creates with one id, exactly one content wins. An expected failure is an `err`; a
   * rejection is a bug. A plant that was not validated is a bug of the caller: the result rejects,
   * and no other plant is concerned. `assertNewPlant` checks it.
   */
  create(plant: NewPlant): ResultAsync<void, IdTaken | PlantRefused | StoreUnavailable>;
}
