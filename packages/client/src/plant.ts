/** A plant to create. */
export type NewPlant = {
  /** The id, an int64: a `bigint`, or a safe integer number. */
  readonly id: bigint | number;
  /** The name: Unicode text without U+0000, validated by the service. */
  readonly name: string;
  /** The tag: Unicode text without U+0000, validated by the service. Default: none. */
  readonly tag?: string | undefined;
};

/** A plant as the service returns it: without the id. */
export type Plant = {
  /** The name, unchanged. */
  name: string;
  /** The tag, unchanged, if the plant has one. */
  tag?: string | undefined;
};
