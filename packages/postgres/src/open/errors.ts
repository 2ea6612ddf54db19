import { quoted } from './columns.ts';
import { type Address, type DatabaseUrl, nameOf } from './database-url.ts';

/** Reason why a database could not be opened. */
export type OpenPostgresError = {
  /** Identifies the error; `message` has the details. */
  readonly kind: (typeof reasons)[ReasonName]['kind'] | 'url-invalid' | 'table-foreign';
  /** Message for the operator: what happened, then what to do. Never contains the password. */
  readonly message: string;
  /** The exception from the driver, if there was one. */
  readonly cause?: unknown;
};

/** Creates the error for a URL none of whose servers could be used. */
export function connectError(url: DatabaseUrl, failures: readonly ServerFailure[]) {
  const placeOf = ({ reason }: ServerFailure) => names.indexOf(reason);
  const [first] = failures.toSorted((one, other) => placeOf(one) - placeOf(other));
  const { kind, advice } = reasons[first?.reason ?? 'unexpected'];
  const message = `${advice(url)} (${failures.map(({ description }) => description).join('; ')})`;
  return { kind, message, ...(first?.cause !== undefined && { cause: first.cause }) };
}

/** Creates the error for a statement that failed after the login. */
export function statementError(url: DatabaseUrl, address: Address, thrown: unknown) {
  const failure = failureOf(address, thrown);
  const isDenied = failure.reason === 'connect-denied';
  const reason = sqlStateOf(thrown) === undefined ? 'no-response' : failure.reason;
  return connectError(url, [{ ...failure, reason: isDenied ? 'table-denied' : reason }]);
}

/** Reason why a server could not be used. */
export type ServerFailure = { reason: ReasonName; description: string; cause?: unknown };

/** Describes an exception from a server as the reason why it could not be used. */
export function failureOf(address: Address, thrown: unknown): ServerFailure {
  const state = sqlStateOf(thrown);
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  const text = `${state ?? code} ${thrown instanceof Error ? thrown.message : ''} ${routineOf(thrown)}`;
  const found = names.find((name) => (reasons[name] as Reason).pattern?.test(text));
  const reason = found ?? (state === undefined ? 'unreachable' : 'unexpected');
  return { reason, description: `${nameOf(address)}: ${describeThrown(thrown)}`, cause: thrown };
}

export function isLoginRefused({ reason }: ServerFailure): boolean {
  return reasons[reason].kind === 'access-denied';
}

/** The pattern matches the SQLSTATE, or the code of Node.js, and the message. The advice is for the operator. */
type Reason = { kind: string; pattern?: RegExp; advice: (url: DatabaseUrl) => string };

/** Reasons why a server cannot be used. When several servers failed, the first reason in this order is reported. */
const reasons = {
  'login-refused': {
    kind: 'access-denied',
    // The driver's messages; the second is for an unsupported method, such as Kerberos. The last code is PgBouncer's.
    pattern: /^28... |^ SASL|^ Unknown authenticationOk|^08P01 .*authentication failed/,
    advice: ({ user, password, passwordSource }) =>
      password === undefined
        ? `the server refuses the role ${user}: give its password in the URL, in PGPASSWORD, or in a password file that only this user can read`
        : `the server refuses the role ${user} or its password: correct them; the password is from ${passwordSource}`,
  },
  'row-security': {
    kind: 'table-denied',
    // The error when row_security is off.
    pattern: /^42501 .* check_enable_rls$/,
    advice: ({ user, database }) =>
      `row security in ${database} can hide plants from the role ${user}: ${bypass(user)}`,
  },
  'connect-denied': {
    kind: 'access-denied',
    pattern: /^42501 /,
    advice: ({ user, database }) =>
      `the role ${user} may not connect to ${database}; let its owner run: ${grant(`CONNECT ON DATABASE ${quoted(database)}`, user)}`,
  },
  'database-unknown': {
    kind: 'database-unknown',
    pattern: /^3D000 /,
    advice: ({ database }) =>
      `there is no database ${database}: create it, for example with "createdb --encoding=UTF8 ${database}", or correct the URL`,
  },
  'tls-failed': {
    kind: 'tls-failed',
    pattern:
      /^(ERR_TLS|ERR_SSL|ERR_OSSL|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MIS)|does not support SSL|establishing an SSL|secure TLS connection|channel_binding=require/,
    advice: () =>
      'no secure connection to the server: correct sslmode, sslrootcert, sslcert, sslkey or channel_binding in the URL, or the certificate of the server',
  },
  'encoding-unsupported': {
    kind: 'encoding-unsupported',
    advice: ({ database }) =>
      `the database ${database} is not in UTF-8 and cannot store every text: create one with "createdb --encoding=UTF8 --template=template0"`,
  },
  'table-missing': {
    kind: 'table-missing',
    pattern: /^42P01 /,
    advice: ({ database, user }) =>
      `the database ${database} has no table plants that the role ${user} finds: open a repository on it to create the table, or correct the search_path or the USAGE privilege on its schema`,
  },
  'table-denied': {
    kind: 'table-denied',
    advice: ({ database, user }) =>
      `the role ${user} lacks a privilege in ${database}; let its owner grant it, for the table plants run: ${grant('SELECT ON plants', user)}`,
  },
  'connection-limit': {
    kind: 'unreachable',
    pattern: /^53[34]00 |max.client.conn/i,
    advice: ({ user }) =>
      `the limit of connections is reached: a server uses up to four, and one is enough; raise the limit of the role ${user}, the database, the server or the pooler, or end other sessions`,
  },
  'no-response': {
    kind: 'unreachable',
    pattern: /^57|^ECONNRESET|^ (no response|the connection was accepted|Connection terminated)/,
    advice: () =>
      'the database server accepted the connection but did not complete its work: it may be starting, stopping, resuming or overloaded, or the table plants may be locked; check the server and retry, or wait longer with connect_timeout in the URL, in seconds',
  },
  'read-only': {
    kind: 'standby-only',
    advice: ({ user, database }) =>
      `the server accepts no writes: set default_transaction_read_only to off for the role ${user}, the database ${database} or the server, once the cause, such as a full disk, is removed`,
  },
  'standby-only': {
    kind: 'standby-only',
    advice: () => 'none of the servers in the URL accepts writes: add the leader to the URL',
  },
  unreachable: {
    kind: 'unreachable',
    pattern: /^(53...|08(?!P01)...) /,
    advice: () =>
      'no database server can be reached: start it, or correct the host and the port in the URL',
  },
  unexpected: { kind: 'unexpected', advice: () => 'the database cannot be used' },
} as const satisfies Readonly<Record<string, Reason>>;

type ReasonName = keyof typeof reasons;
const names = Object.keys(reasons) as ReasonName[];

/** Returns the statement that grants privileges to a role. */
export function grant(privileges: string, role: string): string {
  return `GRANT ${privileges} TO ${quoted(role)};`;
}

/** Returns the way out for a role from which row security can hide plants. */
export function bypass(role: string): string {
  return `use the owner of the table as the role, or let a superuser run: ALTER ROLE ${quoted(role)} BYPASSRLS;`;
}

/** Returns the SQLSTATE of an error that the server reported; `undefined` for any other error. */
export function sqlStateOf(thrown: unknown): string | undefined {
  // Codes of Node.js, such as EPIPE, have the same form; only errors from the server have a severity.
  const isOfServer = thrown instanceof Error && 'code' in thrown && 'severity' in thrown;
  return isOfServer && typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** Returns the function of the server that reported an error. Unlike its message, it is not translated. */
export function routineOf(thrown: unknown): string {
  return thrown instanceof Error && 'routine' in thrown ? String(thrown.routine) : '';
}

/** Describes an exception in a few words, for a log. */
export function describeThrown(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'unknown failure';
  const code = sqlStateOf(thrown);
  if (code !== undefined) return `${thrown.message} (${code})`;
  // The AggregateError for a name with several addresses has a code, but no message.
  return thrown.message || ('code' in thrown ? String(thrown.code) : thrown.name);
}
