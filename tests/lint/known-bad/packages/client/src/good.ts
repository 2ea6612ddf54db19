// expected: nothing
import type { Plant } from '@plantstore/core';
import { errorNameOf } from '@plantstore/core/errors';
import { isExactId } from '@plantstore/core/wire';
import { ok, type Result } from 'neverthrow';

export const first = (plants: readonly Plant[]): Result<Plant | undefined, never> => ok(plants[0]);
export const known = { errorNameOf, isExactId };
