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
export const knownKinds: readonly KnownKind[] = [
  {
    statement: /each plant once/,
    causes: ['damage', 'replaced'],
    subject: 'sqlite: export calls a part complete',
  },
  {
    statement: /readyz 200/,
    causes: ['full', 'disk', 'mode'],
    subject: 'sqlite: a check does what a create does, up to the row',
  },
  {
    statement: /line of the log|503: its cause|exit status|a failing command/,
    causes: ['mode', 'files', 'full', 'disk'],
    subject: 'sqlite: a cause is named only after the call that fails was made',
  },
];
