import { createPlant } from '@plantstore/core';
import { decodeBody, operation } from '@plantstore/core/wire';
import type { Limits } from './limits.ts';
import type { ServiceOptions } from './service-options.ts';
import { createTimeouts, type Timeouts } from './timeouts.ts';
import { type Admission, createAdmit } from './admit.ts';
import {
  type ResponseData,
  errorResponse,
  failureResponse,
  type Fields,
  plantResponse,
} from './response-data.ts';
import { createCors } from './cors.ts';
import type { RequestHead } from './request-head.ts';
import { assertOptions, serviceRules } from './option-rules.ts';
import { normalizeBasePath } from './request-path.ts';

type OnResponse = (responseData: ResponseData) => void;

/** The semantics of `POST {base_url}/plants`: plain data in and out. */
export type Service = {
  readonly maxBodyBytes: number;
  /** Returns the CORS fields of every response to a request with this Origin field. */
  readonly fieldsFor: (origin: string | undefined) => Fields;
  /** Decides from the head alone: read the body, or send this response. */
  readonly admit: (head: RequestHead) => Admission | Promise<Admission>;
  /**
   * Calls `onResponse` with the response for the body of an admitted request; a second time if the repository settles
   * after its timeout.
   */
  readonly create: (body: Uint8Array, onResponse: OnResponse) => void;
};

const none: Fields = [];

const responseOf = (created: Awaited<ReturnType<typeof createPlant>>): ResponseData =>
  created.isOk() ? plantResponse(created.value) : failureResponse(created.error);

/**
 * Creates the service.
 *
 * @throws TypeError for a wrong option
 */
export const createService = (
  options: ServiceOptions,
  limits: Limits,
  timeoutsOf: (durationMs: number) => Timeouts = createTimeouts,
): Service => {
  const { repository, authenticate, basePath = '', corsOrigins = [], corsAllowedHeaders } = options;
  assertOptions(serviceRules, options, ['repository', 'authenticate']);
  const cors = createCors(corsOrigins, corsAllowedHeaders);
  const { maxBodyBytes, handlerTimeoutMs } = limits;
  const timeouts = timeoutsOf(handlerTimeoutMs);
  const path = `${normalizeBasePath(basePath)}${operation.path}`;

  const timedOut = { cause: `the repository timed out after ${handlerTimeoutMs} ms` };

  // Calls back, because a promise with a time limit would take a tenth of the CPU time of a request.
  const store = (input: unknown, onResponse: OnResponse): void => {
    const stop = timeouts(() => onResponse(errorResponse('unavailable', timedOut)));
    const settle = (responseData: ResponseData): void => {
      stop();
      onResponse(responseData);
    };
    void createPlant(repository, input)
      .then<ResponseData, never>(responseOf)
      .then(settle, (cause: unknown) => settle(errorResponse('internal', { cause })));
  };

  return {
    maxBodyBytes,
    fieldsFor: cors?.fieldsFor ?? (() => none),
    admit: createAdmit({ path, authenticate, maxBodyBytes, handlerTimeoutMs, timeouts, cors }),
    create(body, onResponse) {
      const decoded = decodeBody(body);
      if (decoded.isOk()) store(decoded.value, onResponse);
      else onResponse(failureResponse(decoded.error));
    },
  };
};
