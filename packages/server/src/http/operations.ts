import { createPlant } from '@plantstore/core';
import { decodeBody, operation } from '@plantstore/core/wire';
import { errorTable } from '@plantstore/core/errors';
import type { AuthenticatedRequest, ServiceOptions } from './options.ts';
import { encodePath, normalizeBasePath, pathOf, type RequestHead } from './request-head.ts';
import {
  type Cors,
  errorResponse,
  failureResponse,
  plantResponse,
  type ResponseData,
} from './responses.ts';

/**
 * Creates the operations of a service: which methods there are at which path, and what they do.
 * 404, 405, `Allow` and the response to a preflight follow from them.
 */
export function createOperations(
  options: Pick<ServiceOptions, 'repository' | 'basePath'>,
  cors: Cors | undefined,
): Operations {
  const path = pathOfPlants(options);
  const usualTarget = encodePath(path);
  const ofPlants: Methods = new Map([
    [operation.method, { request: { operation: 'createPlant' }, run: create }],
  ]);
  const known = `plants are created with ${operation.method} ${usualTarget}`;
  return { operationOf: ({ method, target }) => methodsAt(target).get(method), refusalOf };

  function methodsAt(target: string): Methods {
    return target === usualTarget || pathOf(target) === path ? ofPlants : none;
  }

  function refusalOf({ method, target, origin }: RequestHead): ResponseData {
    const found = methodsAt(target);
    if (found.size === 0) {
      const message = `${errorTable['path-unknown'].message}; ${known}`;
      return errorResponse('path-unknown', { message });
    }
    const methods = [...found.keys()].join(', ');
    if (method === 'OPTIONS' && cors !== undefined) return cors.optionsResponse(origin, methods);
    const allowed = cors === undefined ? methods : `OPTIONS, ${methods}`;
    return errorResponse('method-not-allowed', { headers: ['Allow', allowed] });
  }

  function create(body: Uint8Array): PromiseLike<ResponseData> {
    const decoded = decodeBody(body);
    if (decoded.isErr()) return Promise.resolve(failureResponse(decoded.error));
    return createPlant(options.repository, decoded.value).then((created) =>
      created.isOk() ? plantResponse(created.value) : failureResponse(created.error),
    );
  }
}

export type Operations = {
  /** Returns the operation of a request, if there is one. */
  readonly operationOf: (head: RequestHead) => Operation | undefined;
  /** Returns the response to a request without an operation. */
  readonly refusalOf: (head: RequestHead) => ResponseData;
};

export type Operation = {
  /** What `authenticate` decides on. */
  readonly request: AuthenticatedRequest;
  /** Resolves with the response to the body of an admitted request. A rejection is a bug. */
  readonly run: (body: Uint8Array) => PromiseLike<ResponseData>;
};

type Methods = ReadonlyMap<string, Operation>;

const none: Methods = new Map();

/** Returns the path of the plants, percent-decoded. */
export function pathOfPlants({ basePath = '' }: Pick<ServiceOptions, 'basePath'>): string {
  return `${normalizeBasePath(basePath)}${operation.path}`;
}
