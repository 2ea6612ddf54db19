import { createMemoryRepository } from '@plantstore/core';
import { type ErrorName, errorTable } from '@plantstore/core/errors';
import type { Admission } from '../src/http/admit.ts';
import { createService } from '../src/http/service.ts';
import { readOptions, type ServiceOptions, serviceRules } from '../src/http/options.ts';
import { maxBodyBytes } from './listen.ts';
import { type Change, headWith } from './requests.ts';

/** Creates a service that accepts the token `good`. */
export const serviceWith = (options: Partial<ServiceOptions> = {}) =>
  createService(
    readOptions(serviceRules, {
      repository: createMemoryRepository(),
      authenticate: (token: string) => token === 'good',
      maxBodyBytes,
      ...options,
    }),
  );

/** Returns the name of an error number; `undefined` if the error table does not have it. */
export const errorNameOf = (error: number | undefined): ErrorName | undefined =>
  (Object.keys(errorTable) as ErrorName[]).find((name) => errorTable[name].error === error);

/** Returns the result of an admission: the name of the error, or `admitted`. */
export const outcomeOf = (admission: Admission): ErrorName | 'admitted' | undefined =>
  admission.response === undefined ? 'admitted' : errorNameOf(admission.response.error);

/** Returns the result of the admission of a changed valid request. */
export const admissionOf = async (change: Change, options: Partial<ServiceOptions> = {}) =>
  outcomeOf(await serviceWith(options).admit(headWith(change)));
