/** The SQLSTATE that a server reported in what was thrown, or `undefined` where no server did. */
export const sqlStateOf = (thrown: unknown): string | undefined => {
  // Node's own codes (EPIPE) have the same form; only a server's report has a severity.
  if (!(thrown instanceof Error) || !('code' in thrown) || !('severity' in thrown)) {
    return undefined;
  }
  return typeof thrown.code === 'string' ? thrown.code : undefined;
};

/** A policy of row-level security has the code of a missing right, and is about one row. */
const isOfPolicy = (thrown: unknown): boolean =>
  thrown instanceof Error && 'routine' in thrown && thrown.routine === 'ExecWithCheckOptions';

/** What to do about a failed statement. */
export type Remedy =
  /** The same again, on the same connection: nothing is wrong with the server. */
  | 'repeat'
  /** The same again on another connection, perhaps to another server. */
  | 'reconnect'
  /** One of the plants cannot be kept; the others may. */
  | 'divide'
  /** Nothing helps but an operator. */
  | 'give-up';

// postgresql.org/docs/current/errcodes-appendix.html
const remedies: readonly (readonly [RegExp, Remedy])[] = [
  // Conflicts of transactions (40001, 40P01) and an unknown outcome (40003): inserting is idempotent.
  [/^(40001|40P01|40003)$/, 'repeat'],
  // A lock or a statement that the server's own timeout or an administrator gave up; no memory, no space.
  [/^(55P03|57014|53...)$/, 'repeat'],
  // Read-only: it was the leader. Shutting down, crashed, starting up. The connection's own failures.
  [/^(25006|57P0.|08...)$/, 'reconnect'],
  // The statement itself, the role, the table or the disk: the same with any other plants.
  [/^(0A|25|28|3D|3F|42|55|58|F0|HV|XX)...$/, 'give-up'],
];

/** Decides what to do about what a statement or a connection attempt threw. */
export const remedyOf = (thrown: unknown): Remedy => {
  const state = sqlStateOf(thrown);
  // The driver's own errors (resets, timeouts, "Connection terminated") have no SQLSTATE.
  if (state === undefined) return 'reconnect';
  if (isOfPolicy(thrown)) return 'divide';
  // What is left is about values: constraints, and triggers, which may raise codes of their own.
  return remedies.find(([pattern]) => pattern.test(state))?.[1] ?? 'divide';
};

/** What was thrown, in a few words for an operator's log. */
export const describeThrown = (thrown: unknown): string => {
  if (!(thrown instanceof Error)) return 'unknown failure';
  const code = sqlStateOf(thrown);
  if (code !== undefined) return `${thrown.message} (${code})`;
  // Several addresses of one name that all fail have a code and no message.
  return thrown.message || ('code' in thrown ? String(thrown.code) : thrown.name);
};
