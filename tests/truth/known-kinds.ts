/** A false statement that is known, until the change that mends it removes its row. */
type KnownKind = {
  readonly statement: RegExp;
  /** What is found. */
  readonly what?: RegExp;
  /** A cause, one of which must have been there. */
  readonly causes?: readonly string[];
  /** What mends it. */
  readonly subject: string;
};

/** Known false statements. They are counted, and are no failure. */
export const knownKinds: readonly KnownKind[] = [];
