import { createMemoryRepository } from '@plantstore/core';
import { type ErrorName, errorNameOf } from '@plantstore/core/errors';
import type { Admission } from '../src/http/admit.ts';
import { createService } from '../src/http/service.ts';
import { limitsOf } from '../src/limits.ts';
import type { ServiceOptions } from '../src/service-options.ts';
import { goodRequest, headOf, maxBodyBytes, type Request } from './requests.ts';

/** A service that accepts the token `good`. */
export const serviceWith = (options: Partial<ServiceOptions> = {}) =>
  createService(
    {
      repository: createMemoryRepository(),
      authenticate: (token) => token === 'good',
      ...options,
    },
    limitsOf({ maxBodyBytes, ...options }),
  );

/** The fields of an answer as pairs. */
export const pairsOf = (fields: readonly string[] = []): [name: string, value: string][] =>
  fields.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, fields[index + 1] ?? '']] : [],
  );

/** What became of a request head, by its name in the error table. */
export const outcomeOf = (admission: Admission): ErrorName | 'admitted' | undefined =>
  admission.kind === 'admitted' ? 'admitted' : errorNameOf(admission.answer.error ?? 0);

/** What becomes of the good request with a change. */
export const admitted = async (
  change: (request: Request) => Request,
  options: Partial<ServiceOptions> = {},
) => outcomeOf(await serviceWith(options).admit(headOf(change(goodRequest))));
