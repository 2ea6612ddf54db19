import type { PlantRepository } from '@plantstore/core';
import type { Authenticate } from './authenticate.ts';
import type { Limits } from './limits.ts';

/**
 * The options that a server, a request listener and a fetch handler share.
 *
 * @interface
 */
export type ServiceOptions = {
  /** Stores the plants. */
  readonly repository: PlantRepository;
  /** Decides whether a bearer token may create plants; there is no default. */
  readonly authenticate: Authenticate;
  /** The path in front of `/plants`, with or without a trailing slash. Default: ''. */
  readonly basePath?: string;
  /**
   * Origins whose pages may call the service, exactly as browsers send them (`https://garden.example`).
   * Default: none.
   */
  readonly corsOrigins?: readonly string[];
  /**
   * Further request headers that pages of these origins may send, such as `traceparent`. `Authorization` and
   * `Content-Type` are always allowed. Default: none.
   */
  readonly corsAllowedHeaders?: readonly string[];
} & Partial<Pick<Limits, 'maxBodyBytes' | 'handlerTimeoutMs'>>;
