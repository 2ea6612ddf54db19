import { createPlant } from '@plantstore/core';
import { decodeBody, operation } from '@plantstore/core/wire';
import { type Admission, type Admit, createAdmit } from './admit.ts';
import { assertOptions, normalizeBasePath, serviceRules } from './option-rules.ts';
import type { Limits, ServiceOptions } from './options.ts';
import {
  createCors,
  errorResponse,
  failureResponse,
  type HeaderList,
  plantResponse,
  type ResponseData,
} from './responses.ts';
import { isThenable } from './values.ts';

/**
 * Creates the service.
 *
 * @throws TypeError for a wrong option
 */
export function createService(options: ServiceOptions, limits: Limits): Service {
  assertOptions(serviceRules, options, ['repository', 'authenticate']);
  const { repository, authenticate, corsOrigins = [], corsAllowedHeaders = [] } = options;
  const { maxBodyBytes, handlerTimeoutMs } = limits;
  const cors = createCors(corsOrigins, corsAllowedHeaders);
  const lateAuthenticate = `authenticate timed out after ${handlerTimeoutMs} ms`;
  const lateRepository = `the repository timed out after ${handlerTimeoutMs} ms`;
  const admit = createAdmit({ path: pathOfPlants(options), authenticate, maxBodyBytes, cors });

  return {
    maxBodyBytes,
    headersFor: cors?.headersFor ?? (() => []),
    admit(head) {
      const admission = admit(head);
      if (!isThenable(admission)) return admission;
      return inTime(lateAuthenticate, admission, (response): Admission => ({ response }));
    },
    create(body) {
      const decoded = decodeBody(body);
      if (decoded.isErr()) return Promise.resolve(failureResponse(decoded.error));
      const responded = createPlant(repository, decoded.value).then<ResponseData, never>(
        (created) =>
          created.isOk() ? plantResponse(created.value) : failureResponse(created.error),
      );
      return inTime(lateRepository, responded, (response) => response);
    },
  };

  /** Resolves once: with the result of the work, or with an error response if it fails or takes too long. */
  function inTime<T>(
    lateCause: string,
    work: PromiseLike<T>,
    resultOf: (response: ResponseData) => T,
  ): Promise<T> {
    return new Promise((resolve) => {
      const onTimeout = () => resolve(resultOf(errorResponse('unavailable', { cause: lateCause })));
      const timer = setTimeout(onTimeout, handlerTimeoutMs);
      // The socket of a request keeps the process alive, not its timer. Only workerd has a number here.
      timer.unref?.();
      const settle = (result: T) => {
        clearTimeout(timer);
        resolve(result);
      };
      work.then(settle, (cause: unknown) => settle(resultOf(errorResponse('internal', { cause }))));
    });
  }
}

/** The semantics of `POST {base_url}/plants`: plain data in and out. */
export type Service = {
  readonly maxBodyBytes: number;
  /** Returns the CORS headers of every response to a request with this Origin field. */
  readonly headersFor: (origin: string | undefined) => HeaderList;
  /** Decides from the head alone: read the body, or send this response. */
  readonly admit: Admit;
  /** Resolves with the response for the body of an admitted request. It never rejects. */
  readonly create: (body: Uint8Array) => Promise<ResponseData>;
};

/** Returns the path of the operation, percent-decoded. */
export function pathOfPlants({ basePath = '' }: Pick<ServiceOptions, 'basePath'>): string {
  return `${normalizeBasePath(basePath)}${operation.path}`;
}
