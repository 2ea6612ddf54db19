import { createPlant, type PlantRepository } from '@plantstore/core';
import { decodeBody } from '@plantstore/core/wire';
import { type Limits, limitsOf } from '../limits.ts';
import { type Admission, type Authenticate, createAdmit } from './admit.ts';
import { type Answer, errorAnswer, failureAnswer, type Headers, plantAnswer } from './answer.ts';
import { createCors } from './cors.ts';
import { createDeadline } from './deadline.ts';
import type { RequestHead } from './request-head.ts';
import { basePathForm, normalizeBasePath } from './request-path.ts';

/**
 * What a plant store over HTTP is made of, with or without a server.
 *
 * @interface
 */
export type ServiceOptions = {
  /** Where plants are kept. */
  readonly repository: PlantRepository;
  /** Decides whether a bearer token may create plants; there is no default. */
  readonly authenticate: Authenticate;
  /** What comes before `/plants`, with or without a slash at the end. Default is '' (nothing). */
  readonly basePath?: string;
  /**
   * Origins whose pages may call, exactly as browsers send them (`https://garden.example`).
   * Default is none: browsers keep every other origin's pages out.
   */
  readonly corsOrigins?: readonly string[];
} & Partial<Pick<Limits, 'maxBodyBytes' | 'handlerTimeoutMs'>>;

/** The semantics of `POST {base_url}/plants`, plain data in and plain data out. */
export type Service = {
  readonly maxBodyBytes: number;
  /** What every answer to a request with these header fields carries besides its own. */
  readonly headersFor: (rawHeaders: readonly string[]) => Headers;
  /** From the head alone: the body is wanted, or this is the answer. */
  readonly admit: (head: RequestHead) => Promise<Admission>;
  /** The answer for the whole body of a request that was admitted. */
  readonly create: (body: Uint8Array) => Promise<Answer>;
};

const entranceOf = (options: ServiceOptions) => {
  const { repository, authenticate, basePath = '', corsOrigins = [] } = options;
  const normalized = normalizeBasePath(basePath);
  if (normalized === undefined) throw new TypeError(`basePath must be ${basePathForm}`);
  if (typeof repository?.create !== 'function') throw new TypeError('repository must have create');
  if (typeof authenticate !== 'function') throw new TypeError('authenticate must be a function');
  const cors = createCors(corsOrigins);
  const limits = limitsOf(options);
  const inTime = createDeadline(limits.handlerTimeoutMs);
  return { repository, path: `${normalized}/plants`, authenticate, cors, inTime, ...limits };
};

const none: Headers = [];

/** Makes the service; a wrong option is a bug and throws a TypeError. */
export const createService = (options: ServiceOptions): Service => {
  const entrance = entranceOf(options);
  const { repository, maxBodyBytes, handlerTimeoutMs, inTime, cors } = entrance;
  return {
    maxBodyBytes,
    headersFor: cors?.headersFor ?? (() => none),
    admit: createAdmit(entrance),
    create: async (body) => {
      try {
        const decoded = decodeBody(body);
        if (decoded.isErr()) return failureAnswer(decoded.error);
        const created = await inTime(createPlant(repository, decoded.value));
        if (created !== undefined) return created.match(plantAnswer, failureAnswer);
        const cause = `the repository did not answer in ${handlerTimeoutMs} ms`;
        return errorAnswer('unavailable', { cause });
      } catch (cause) {
        return errorAnswer('internal', { cause });
      }
    },
  };
};
