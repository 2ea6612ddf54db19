/** What a server allows. Times are in milliseconds, sizes in bytes. */
export type Limits = {
  /** The largest body, in bytes. Default is 1048576 (1 MiB). */
  readonly maxBodyBytes: number;
  /**
   * How many requests with valid credentials may be in the works at a time; one more is answered 503
   * at once. Their bodies are what takes memory: at most this many times `maxBodyBytes`. Default is 1024.
   */
  readonly maxInFlight: number;
  /** How many connections may be open at a time; one more is closed at once. Default is 10000. */
  readonly maxConnections: number;
  /**
   * For the head of a request to arrive, and before it for a TLS handshake. Default is 15000 (15
   * seconds), or requestTimeoutMs if less.
   */
  readonly headersTimeoutMs: number;
  /** For a whole request to arrive. Default is 60000 (1 minute). */
  readonly requestTimeoutMs: number;
  /**
   * For the next request on a connection. Default is 75000 (75 seconds), longer than the idle time
   * of common load balancers, so that it is they who close.
   */
  readonly keepAliveTimeoutMs: number;
  /**
   * For `authenticate` to decide, and then for the repository; after that the answer is 503. Default is
   * 15000 (15 seconds), less than the deadline of a stop.
   */
  readonly handlerTimeoutMs: number;
};

/** What is allowed where nothing else is said. */
export const defaultLimits: Limits = {
  maxBodyBytes: 1_048_576,
  maxInFlight: 1_024,
  maxConnections: 10_000,
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 75_000,
  handlerTimeoutMs: 15_000,
};

/** A timer cannot wait longer, in milliseconds (24 days): for more, Node would wait for 1. */
export const longestTimerMs = 2 ** 31 - 1;

/** The limits among some options, each with its default where it is left out. */
export const limitsOf = (options: Partial<Limits>): Limits => {
  const limits: Record<keyof Limits, number> = { ...defaultLimits };
  for (const name of Object.keys(defaultLimits) as (keyof Limits)[]) {
    const value: unknown = options[name];
    if (value === undefined) continue;
    if (
      typeof value !== 'number' ||
      !Number.isInteger(value) ||
      value < 1 ||
      value > longestTimerMs
    ) {
      throw new TypeError(`${name} must be a whole number from 1 to ${longestTimerMs}`);
    }
    limits[name] = value;
  }
  return limits;
};
