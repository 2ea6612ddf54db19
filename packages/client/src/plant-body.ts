import { encodeNewPlant, isExactId, type PlantId } from '@plantstore/core/wire';
import { ok, Result } from 'neverthrow';
import type { RequestInvalid } from './create-plant-error.ts';
import { requestInvalid } from './request-invalid.ts';

/** A plant as a caller gives it. */
export type PlantAsGiven = {
  readonly id: PlantId;
  readonly name: string;
  readonly tag?: string | undefined;
};

// Each member is read once: a getter cannot show one id to the check and another to the wire.
const encode = Result.fromThrowable(({ id, name, tag }: PlantAsGiven) =>
  isExactId(id) ? encodeNewPlant({ id, name, tag }) : undefined,
);

/** A plant as the request's body. Only its id is checked: the service judges the rest. */
export const plantBody = (newPlant: PlantAsGiven): Result<string, RequestInvalid> =>
  encode(newPlant).match(
    (body) => (body === undefined ? requestInvalid('id-not-exact') : ok(body)),
    () => requestInvalid('plant-unwritable'),
  );
