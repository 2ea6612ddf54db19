import { type Address, type DatabaseUrl, nameOf } from './database-url.ts';

/** Reason why a database could not be opened. */
export type OpenPostgresError = {
  /** Identifies the error; `message` has the details. */
  readonly kind:
    | 'url-invalid'
    | 'unreachable'
    | 'access-denied'
    | 'database-unknown'
    | 'encoding-unsupported'
    | 'standby-only'
    | 'table-denied'
    | 'table-foreign'
    | 'table-missing'
    | 'tls-failed'
    | 'unexpected';
  /** Message for the operator: what happened, then what to do. Never contains the password. */
  readonly message: string;
  /** The exception from the driver, if there was one. */
  readonly cause?: unknown;
};

type Kind = Exclude<OpenPostgresError['kind'], 'url-invalid' | 'table-denied' | 'table-foreign'>;

/** Reason why a server could not be used. */
export type ServerFailure = {
  readonly kind: Kind;
  readonly description: string;
  readonly cause?: unknown;
};

// Messages of the driver. The second is for an unsupported authentication method, such as Kerberos.
const loginMessages = /^SASL|^Unknown authenticationOk message/;
const tlsCodes =
  /^(ERR_TLS|ERR_SSL|ERR_OSSL|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MIS)/;
const tlsMessages =
  /does not support SSL|establishing an SSL|secure TLS connection|channel_binding=require/;

const isTlsError = (thrown: unknown): boolean =>
  thrown instanceof Error &&
  (tlsMessages.test(thrown.message) || ('code' in thrown && tlsCodes.test(String(thrown.code))));

const kindOf = (thrown: unknown): Kind => {
  const state = sqlStateOf(thrown);
  if (state === undefined) {
    if (thrown instanceof Error && loginMessages.test(thrown.message)) return 'access-denied';
    return isTlsError(thrown) ? 'tls-failed' : 'unreachable';
  }
  if (state === '3D000') return 'database-unknown';
  if (state === '42P01') return 'table-missing';
  if (state.startsWith('28') || state === '42501') return 'access-denied';
  return /^(53|57P|08(?!P01))/.test(state) ? 'unreachable' : 'unexpected';
};

/** Describes an exception from a server as the reason why it could not be used. */
export const failureOf = (address: Address, thrown: unknown): ServerFailure => ({
  kind: kindOf(thrown),
  description: `${nameOf(address)}: ${describeThrown(thrown)}`,
  cause: thrown,
});

/** What the operator can do. When several servers failed, the first kind in this order is reported. */
const advice: Readonly<Record<Kind, (url: DatabaseUrl) => string>> = {
  'access-denied': ({ user, password }) =>
    password === undefined
      ? `the server refuses the role ${user}: give its password in the URL, in PGPASSWORD, or in a password file that only this user can read`
      : `the server refuses the role ${user} or its password: correct them in the URL or in PGPASSWORD`,
  'database-unknown': ({ database }) =>
    `there is no database ${database}: create it, for example with "createdb --encoding=UTF8 ${database}", or correct the URL`,
  'tls-failed': () =>
    'no secure connection to the server: correct sslmode, sslrootcert, sslcert, sslkey or channel_binding in the URL, or the certificate of the server',
  'encoding-unsupported': ({ database }) =>
    `the database ${database} is not in UTF-8 and cannot store every text: create one with "createdb --encoding=UTF8 --template=template0"`,
  'table-missing': ({ database }) =>
    `the database ${database} has no table plants: open a repository on it to create the table, or correct the search_path`,
  unexpected: () => 'the database cannot be used',
  'standby-only': () => 'none of the servers in the URL accepts writes: add the leader to the URL',
  unreachable: () =>
    'no database server can be reached: start it, or correct the host and the port in the URL',
};

const priorities = Object.keys(advice);

/** Creates the error for a URL none of whose servers could be used. */
export const connectError = (
  url: DatabaseUrl,
  failures: readonly ServerFailure[],
): OpenPostgresError => {
  const [first] = failures.toSorted(
    (one, other) => priorities.indexOf(one.kind) - priorities.indexOf(other.kind),
  );
  const kind = first?.kind ?? 'unexpected';
  return {
    kind,
    message: `${advice[kind](url)} (${failures.map(({ description }) => description).join('; ')})`,
    ...(first?.cause !== undefined && { cause: first.cause }),
  };
};

/** Creates the error for a statement that failed. */
export const statementError = (
  url: DatabaseUrl,
  address: Address,
  thrown: unknown,
): OpenPostgresError => {
  const { kind, description } = failureOf(address, thrown);
  const what =
    sqlStateOf(thrown) === undefined
      ? 'the database server accepted the connection but did not respond: it may be overloaded, or the table plants may be locked; check the server and retry'
      : advice[kind](url);
  return { kind, message: `${what} (${description})`, cause: thrown };
};

/** Returns the SQLSTATE of an error that the server reported; `undefined` for any other error. */
export const sqlStateOf = (thrown: unknown): string | undefined => {
  // Codes of Node.js, such as EPIPE, have the same form; only errors from the server have a severity.
  if (!(thrown instanceof Error) || !('code' in thrown) || !('severity' in thrown)) {
    return undefined;
  }
  return typeof thrown.code === 'string' ? thrown.code : undefined;
};

/** Describes an exception in a few words, for a log. */
export const describeThrown = (thrown: unknown): string => {
  if (!(thrown instanceof Error)) return 'unknown failure';
  const code = sqlStateOf(thrown);
  if (code !== undefined) return `${thrown.message} (${code})`;
  // The AggregateError for a name with several addresses has a code, but no message.
  return thrown.message || ('code' in thrown ? String(thrown.code) : thrown.name);
};
