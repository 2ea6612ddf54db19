import type { PlantRepository } from '@plantstore/core';
import type { Logger } from './logger.ts';

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
   * Origins whose pages may call the service, exactly as browsers send them
   * (`https://garden.example`). Default: none.
   */
  readonly corsOrigins?: readonly string[];
  /**
   * Further request headers that pages of these origins may send, such as `traceparent`.
   * `Authorization` and `Content-Type` are always allowed. Default: none.
   */
  readonly corsAllowedHeaders?: readonly string[];
  /** Logs each request in one line. Default: no log. */
  readonly logger?: Logger;
} & Partial<Pick<Limits, 'maxBodyBytes' | 'maxInFlight' | 'handlerTimeoutMs'>>;

/**
 * Decides whether a bearer token may create plants. Only `true` or a token's name lets a request
 * in; throwing or rejecting results in 500.
 *
 * @example
 * ```ts
 * import type { Authenticate } from '@plantstore/server';
 *
 * export const authenticate: Authenticate = (token) =>
 *   token === process.env['PLANT_TOKEN'] && { tokenName: 'greenhouse' };
 * ```
 */
export type Authenticate = (token: string) => TokenDecision | Promise<TokenDecision>;

/**
 * The decision of `authenticate`. `true` accepts the token, and so does an object with its name,
 * for the log and the events of the request. Any other value results in 401.
 */
export type TokenDecision =
  | boolean
  | {
      /** Name of the token, for the log. Never a part of the token. */
      readonly tokenName: string;
    };

/** The limits of a server. Times are in milliseconds, sizes in bytes. */
export type Limits = {
  /** Maximum size of a body, in bytes. Default: 1048576 (1 MiB). */
  readonly maxBodyBytes: number;
  /**
   * Maximum number of authenticated requests in flight; one more gets 503 at once. It bounds the
   * memory for bodies to this number times `maxBodyBytes`. Default: 1024.
   */
  readonly maxInFlight: number;
  /** Maximum number of open connections; one more is closed at once. Default: 10000. */
  readonly maxConnections: number;
  /**
   * Timeout for the head of a request to arrive, and for a TLS handshake, in milliseconds. Default:
   * 15000 (15 seconds), or `requestTimeoutMs` if that is less.
   */
  readonly headersTimeoutMs: number;
  /** Timeout for a complete request to arrive, in milliseconds. Default: 60000 (1 minute). */
  readonly requestTimeoutMs: number;
  /**
   * Timeout for the next request on a connection, in milliseconds. Default: 75000 (75 seconds), longer
   * than the idle timeout of common load balancers, so that the load balancer closes the connection.
   */
  readonly keepAliveTimeoutMs: number;
  /**
   * Timeout for `authenticate`, and then for the repository, in milliseconds; after it, the
   * response is 503. Default: 15000 (15 seconds), less than the deadline of `close()`.
   */
  readonly handlerTimeoutMs: number;
};

export const defaultLimits: Limits = {
  maxBodyBytes: 1_048_576,
  maxInFlight: 1_024,
  maxConnections: 10_000,
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 75_000,
  handlerTimeoutMs: 15_000,
};

/** Returns the limits of some options, with defaults for those that are left out. */
export function limitsOf(options: Partial<Limits>): Limits {
  const limits: Record<keyof Limits, number> = { ...defaultLimits };
  for (const name of Object.keys(defaultLimits) as (keyof Limits)[]) {
    limits[name] = options[name] ?? defaultLimits[name];
  }
  return limits;
}
