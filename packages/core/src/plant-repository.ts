import type { ResultAsync } from 'neverthrow';
import type { NewPlant } from './plant.ts';

/**
 * The error for an id that another plant, with another name or tag, already has. Nothing was
 * changed.
 */
export type IdTaken = {
  readonly kind: 'id-taken';
  /** The id that both plants have. `JSON.stringify` throws for a `bigint`. */
  readonly id: bigint;
};

/**
 * The error for a store that cannot confirm a create: it is unreachable, full, overloaded or
 * closed. The plant may or may not be stored; creating it again is safe.
 */
export type StoreUnavailable = {
  readonly kind: 'store-unavailable';
  /** The reason, for the operator's log. Never sent over HTTP. */
  readonly reason: string;
  /** The error of the store's driver, if any. */
  readonly cause?: unknown;
};

/**
 * The error for a plant that a custom rule of the repository does not allow, or whose content the
 * database does not accept. Nothing was changed. Over HTTP, the client receives 400 with this
 * number and message.
 */
export type PlantRefused = {
  readonly kind: 'plant-refused';
  /**
   * The number of the rule: an integer from 4000 to 4999, a range that the error table does not
   * use.
   */
  readonly error: number;
  /** The reason, for the client: a sentence without a full stop. */
  readonly message: string;
  /** The error of the store's driver, if any, for the operator's log. Never sent over HTTP. */
  readonly cause?: unknown;
};

/**
 * A store of plants. Every implementation passes the test suite of
 * `@plantstore/core/repository-contract`.
 */
export interface PlantRepository {
  /**
   * Stores a plant as it is when this is called, atomically and exactly (the id as an int64, the
   * text code point by code point):
   *
   * - the id does not exist: the plant is stored, and the result is `ok` once the plant is as
   *   durable as this store makes it;
   * - the same plant exists (same id, name and tag; no tag differs from an empty tag): `ok`,
   *   nothing changes, so a create can be repeated; the value is `unchanged` if the store reports
   *   this;
   * - a different plant has the id: `id-taken`, nothing changes;
   * - a custom rule of the repository or the database does not allow the plant: `plant-refused`,
   *   nothing changes.
   *
   * Of concurrent creates with one id, exactly one content is stored. An expected failure is an
   * `err`; a rejection is a bug. A plant that was not validated is a bug of the caller: the result
   * rejects, and no other create is affected. `assertNewPlant` validates it.
   */
  create(
    plant: NewPlant,
  ): ResultAsync<void | 'unchanged', IdTaken | PlantRefused | StoreUnavailable>;
}
