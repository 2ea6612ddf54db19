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
    statement: /names each refused line|has a summary/,
    subject: 'program: a command waits for its output',
  },
  {
    statement: /has arrived has a response/,
    subject: 'program: a stop counts the requests that it cuts',
  },
  {
    statement: /exit status/,
    what: /SIGTERM/,
    subject: 'program: a second signal after "stopped"',
  },
  {
    statement: /metrics/,
    what: /commit_plants/,
    subject: 'program: commit_plants counts plants of batches that failed',
  },
];
