import type { PlantRepository } from '@plantstore/core';
import type { Authenticate } from './authenticate.ts';
import type { Limits } from './limits.ts';

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
  /**
   * Further request headers that these pages may send, such as `traceparent`. `Authorization` and
   * `Content-Type` are always allowed. Default is none.
   */
  readonly corsAllowedHeaders?: readonly string[];
} & Partial<Pick<Limits, 'maxBodyBytes' | 'handlerTimeoutMs'>>;
