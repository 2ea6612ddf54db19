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
   * Timeout for `authenticate`, and then for the repository, in milliseconds; after it, the response is 503.
   * Default: 15000 (15 seconds), less than the deadline of `close()`.
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

/** Maximum delay of a timer, in milliseconds (24 days). Node replaces a longer one by 1 ms. */
export const longestTimerMs = 2 ** 31 - 1;

/** Returns the limits of some options, with defaults for those that are left out. */
export const limitsOf = (options: Partial<Limits>): Limits => {
  const limits: Record<keyof Limits, number> = { ...defaultLimits };
  for (const name of Object.keys(defaultLimits) as (keyof Limits)[]) {
    limits[name] = options[name] ?? defaultLimits[name];
  }
  return limits;
};
