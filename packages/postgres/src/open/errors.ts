import { quoted } from './columns.ts';

/** Reason why a database could not be opened. */
export type OpenPostgresError = {
  /** Identifies the error; `message` has the details. */
  readonly kind: Kind;
  /** Message for the operator: what happened, then what to do. Never contains the password. */
  readonly message: string;
  /** The exception from the driver, if there was one. */
  readonly cause?: unknown;
};

/** What is wrong with a database: a kind, and the detail that its message contains. */
export type Fault = {
  readonly kind: FaultKind;
  readonly detail: string;
  readonly cause?: unknown;
};

/** What a message names. */
export type Place = { readonly user: string; readonly database: string };

/** Returns the error for a fault. Its detail is in the message, or follows in parentheses. */
export function openError(place: Place, { kind, detail, cause }: Fault): OpenPostgresError {
  const text = messages[kind](place, detail);
  const message = text.includes(detail) ? text : `${text} (${detail})`;
  return { kind: publicKindOf(kind), message, ...(cause !== undefined && { cause }) };
}

/** Returns the error for a URL none of whose servers can be used: the first in the table counts. */
export function connectError(place: Place, faults: readonly Fault[]): OpenPostgresError {
  const rank = ({ kind }: Fault) => kinds.indexOf(kind);
  const [first] = faults.toSorted((one, other) => rank(one) - rank(other));
  const detail = faults.map((fault) => fault.detail).join('; ');
  return openError(place, { kind: 'unexpected', ...first, detail });
}

/** Describes an exception from a server. */
export function faultOf(server: string, thrown: unknown): Fault {
  return { kind: kindOf(thrown), detail: `${server}: ${describeThrown(thrown)}`, cause: thrown };
}

/** Whether a server refuses a login, and does not say that it may accept one soon. */
export function isLoginRefused(thrown: unknown): boolean {
  const state = sqlStateOf(thrown);
  if (publicKindOf(kindOf(thrown)) === 'access-denied') return true;
  // Too many connections, shutdown or startup; a pooler without a server.
  return state !== undefined && !/^(08|53|57)/.test(state);
}

/** Whether an unencrypted login may succeed: a rule of pg_hba.conf can refuse encrypted ones. */
export function isTlsRefused(thrown: unknown): boolean {
  return kindOf(thrown) === 'tls-failed' || sqlStateOf(thrown) === '28000';
}

/** Returns the SQLSTATE of an error that the server reported; `undefined` for any other error. */
export function sqlStateOf(thrown: unknown): string | undefined {
  // Codes of Node.js, such as EPIPE, have the same form, but no severity.
  return textOf(thrown, 'severity') === '' ? undefined : textOf(thrown, 'code');
}

/** Returns a field of an error from the driver, or an empty text. `routine` is never translated. */
export function textOf(thrown: unknown, field: 'code' | 'routine' | 'severity' | 'where'): string {
  const value: unknown = thrown instanceof Error ? Reflect.get(thrown, field) : '';
  return typeof value === 'string' ? value : '';
}

/** Describes an exception in a few words, for a log. */
export function describeThrown(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'unknown failure';
  const code = sqlStateOf(thrown);
  if (code !== undefined) return `${thrown.message} (${code})`;
  // The AggregateError for a name with several addresses has a code, but no message.
  return thrown.message || textOf(thrown, 'code') || thrown.name;
}

/** Every kind of fault, with its message. Of several servers, the first kind here counts. */
const messages = {
  // The URL.
  'url-invalid': () =>
    'the database URL must have the form postgres://user:password@host:5432/database, with ' +
    'commas between hosts; in user and password, / is %2F, ? %3F, # %23, @ %40, % is %25',
  'url-parameter': (_, detail) => `correct the database URL, or a variable for it: ${detail}`,
  // The login.
  'password-wrong': ({ user }) =>
    `correct the password of the role ${user} in the URL, PGPASSWORD or the password file`,
  'access-denied': () =>
    'the server does not permit this login: correct its pg_hba.conf, sslmode, the role or its ' +
    'privileges on the database',
  'row-security': ({ user, database }) =>
    `row security in ${database} refuses or hides plants for the role ${user}: use its owner, or ` +
    `let a superuser run: ALTER ROLE ${quoted(user)} BYPASSRLS;`,
  'database-unknown': ({ database }) =>
    `create the database with "createdb --encoding=UTF8 ${database}", or correct the URL`,
  'tls-failed': () =>
    'no secure connection: correct sslmode, sslrootcert, sslcert, sslkey or channel_binding, or ' +
    'the certificate of the server',
  // The database and its table.
  'encoding-unsupported': ({ database }) =>
    `the database ${database} must be in UTF-8: create another one`,
  'table-missing': ({ user, database }) =>
    `the role ${user} finds no table plants in ${database}: start a server, which creates it, or ` +
    'correct the search_path or the USAGE privilege on its schema',
  'table-elsewhere': ({ database }, schemas) =>
    `the search path leads to no table plants in ${database}, but there is one in ${schemas}: ` +
    'name the schema with options=-csearch_path=… in the URL',
  'table-denied': ({ user, database }) =>
    `the role ${user} lacks a privilege in ${database}: let its owner grant it`,
  'table-foreign': ({ database }, found) =>
    `${database} has another plants (${found}), which was not changed: name another database in ` +
    'the URL, or another schema with options=-csearch_path=…',
  'table-changed': (_, table) =>
    `${table} was replaced or rewritten while it was read, so that plants can be missing or ` +
    'repeated: read it again',
  // The server.
  'no-response': () =>
    'the database server does not respond: it may be starting, stopping, resuming or overloaded, ' +
    'have no connection free (one is enough), or the table plants may be locked; retry, or wait ' +
    'longer with connect_timeout in the URL',
  'standby-only': () =>
    'no server of the URL accepts writes: add the leader to the URL, or find out why ' +
    'default_transaction_read_only is on',
  unreachable: () =>
    'no database server can be reached: start it, or correct the host and the port',
  unexpected: () => 'the database cannot be used',
} satisfies Readonly<Record<string, (place: Place, detail: string) => string>>;

/** Returns a warning about tables of other schemas, for the operator. */
export function warningOf(table: string, schemas: string): string {
  return (
    `${table} is used, and there are tables plants in ${schemas}, too: name the schema with ` +
    'options=-csearch_path=… in the URL, or a later start may use another table'
  );
}

type FaultKind = keyof typeof messages;
const kinds = Object.keys(messages) as FaultKind[];

/** The kinds that are published by a wider one. */
const wider = {
  'url-parameter': 'url-invalid',
  'password-wrong': 'access-denied',
  'row-security': 'table-denied',
  'table-elsewhere': 'table-missing',
  'no-response': 'unreachable',
} as const satisfies Partial<Record<FaultKind, FaultKind>>;

type Kind = Exclude<FaultKind, keyof typeof wider>;

function publicKindOf(kind: FaultKind): Kind {
  return kind in wider ? wider[kind as keyof typeof wider] : (kind as Kind);
}

function kindOf(thrown: unknown): FaultKind {
  const message = thrown instanceof Error ? thrown.message : '';
  const fields = { code: textOf(thrown, 'code'), message, routine: textOf(thrown, 'routine') };
  const found = signs.find(([, field, pattern]) => pattern.test(fields[field]));
  // Without an SQLSTATE, it is of the network.
  return found?.[0] ?? (sqlStateOf(thrown) === undefined ? 'unreachable' : 'unexpected');
}

/**
 * Signs of the kinds in an exception: an SQLSTATE or a code of Node.js, a message of the driver or
 * of a pooler, a function of the server. The first counts.
 */
const signs: readonly (readonly [FaultKind, 'code' | 'message' | 'routine', RegExp])[] = [
  // A method such as Kerberos.
  ['access-denied', 'message', /^Unknown authenticationOk/],
  ['access-denied', 'code', /^28(?!P01)/],
  ['access-denied', 'routine', /^CheckMyDatabase$/],
  ['password-wrong', 'code', /^28P01$/],
  ['password-wrong', 'message', /^SASL|authentication failed/],
  // The error when row_security is off.
  ['row-security', 'routine', /^check_enable_rls$/],
  ['database-unknown', 'code', /^3D000$/],
  ['tls-failed', 'code', /^(E?ERR_(TLS|SSL|OSSL)|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/],
  ['tls-failed', 'message', /does not support SSL|establishing an SSL|secure TLS|channel_binding/],
  ['table-missing', 'code', /^(42P01|3F000)$/],
  ['table-denied', 'code', /^42501$/],
  // No unique key; a generated column; a rule on INSERT: planning an insert fails.
  ['table-foreign', 'code', /^(42P10|428C9|0A000)$/],
  ['no-response', 'code', /^(53[34]00|57|55P03|ECONNRESET|EPIPE)/],
  // Of pgbouncer, with the SQLSTATE of a protocol error.
  ['no-response', 'message', /^(query_wait_timeout|no more connections allowed)/],
  // Not queryable: the session was ended between two statements.
  ['no-response', 'message', /^(no response|the connection was|Connection term)|not queryable$/],
  ['standby-only', 'code', /^25006$/],
  ['unreachable', 'code', /^08(?!P01)/],
];
