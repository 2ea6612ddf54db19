/** A plant to be created. */
export type NewPlant = {
  /** An exact int64: a `bigint`, or a safe integer number. */
  readonly id: bigint | number;
  /** Any Unicode text without U+0000; the service validates it, not the client. */
  readonly name: string;
  /** Likewise, or absent. */
  readonly tag?: string | undefined;
};

/** A plant as the service returns it: without the id. */
export type Plant = {
  /** The name, as it was given. */
  name: string;
  /** The tag, where one was given. */
  tag?: string;
};
