import { type ConnectFailure, describeFailure } from './connect-leader.ts';
import { type DatabaseUrl, nameOf } from './database-url.ts';
import { createTable, type TableFault } from './plants-table.ts';
import { describeThrown, sqlStateOf } from './server-failure.ts';
import { quoted } from './statements.ts';

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

type Kind = OpenPostgresError['kind'];

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

const kindOfFailure = (failure: ConnectFailure): Kind => {
  switch (failure.kind) {
    case 'standby':
      return 'standby-only';
    case 'encoding':
      return 'encoding-unsupported';
    case 'thrown':
      return kindOf(failure.thrown);
  }
};

const advice = (kind: Kind, { user, database, password }: DatabaseUrl): string => {
  switch (kind) {
    case 'access-denied':
      return password === undefined
        ? `the server refuses the role ${user}: give its password in the URL, in PGPASSWORD, or in a password file that only this user can read`
        : `the server refuses the role ${user} or its password: correct them in the URL or in PGPASSWORD`;
    case 'database-unknown':
      return `there is no database ${database}: create it, for example with "createdb --encoding=UTF8 ${database}", or correct the URL`;
    case 'encoding-unsupported':
      return `the database ${database} is not in UTF-8 and cannot store every text: create one with "createdb --encoding=UTF8 --template=template0"`;
    case 'standby-only':
      return 'none of the servers in the URL accepts writes: add the leader to the URL';
    case 'tls-failed':
      return 'no secure connection to the server: correct sslmode, sslrootcert, sslcert, sslkey or channel_binding in the URL, or the certificate of the server';
    case 'unreachable':
      return 'no database server can be reached: start it, or correct the host and the port in the URL';
    case 'table-missing':
      return `the database ${database} has no table plants: open a repository on it to create the table, or correct the search_path`;
    case 'unexpected':
    case 'table-denied':
    case 'table-foreign':
    case 'url-invalid':
      return 'the database cannot be used';
  }
};

/** Sorted by how specific the advice is, the most specific first. */
const kindsByPriority: readonly Kind[] = [
  'access-denied',
  'database-unknown',
  'tls-failed',
  'encoding-unsupported',
  'table-missing',
  'unexpected',
  'standby-only',
  'unreachable',
];

/** Creates the error for a URL none of whose servers could be used. */
export const connectError = (
  url: DatabaseUrl,
  failures: readonly ConnectFailure[],
): OpenPostgresError => {
  const kinds = failures.map(kindOfFailure);
  const kind = kindsByPriority.find((one) => kinds.includes(one)) ?? 'unexpected';
  const first = failures.find((_, index) => kinds[index] === kind);
  return {
    kind,
    message: `${advice(kind, url)} (${failures.map(describeFailure).join('; ')})`,
    ...(first?.kind === 'thrown' && { cause: first.thrown }),
  };
};

/** Creates the error for a table that cannot be used. */
export const tableError = (
  { user, database }: DatabaseUrl,
  fault: TableFault,
): OpenPostgresError => {
  const grant = (what: string) => `GRANT ${what} TO ${quoted(user)};`;
  switch (fault.kind) {
    case 'may-not-create':
      return {
        kind: 'table-denied',
        message: `the role ${user} may not create the table plants in ${database}; let its owner run: ${createTable(fault.name)}; ${grant(`SELECT, INSERT ON ${fault.name}`)}`,
        cause: fault.cause,
      };
    case 'no-schema':
      return {
        kind: 'table-denied',
        message: `${database} has no schema that the role ${user} may use for the table plants, search_path is ${fault.searchPath}; let its owner create one with CREATE SCHEMA, or, for an existing schema, run: ${grant('USAGE ON SCHEMA …')}`,
        cause: fault.cause,
      };
    case 'may-not-use':
      return {
        kind: 'table-denied',
        message: `the role ${user} may not use the table plants in ${database}; let its owner run: ${fault.what.map(grant).join(' ')}`,
      };
    case 'foreign':
      return {
        kind: 'table-foreign',
        message: `${database} has a table plants with another definition (${fault.found}), which was not changed: name another database in the URL, or another schema with options=-csearch_path=…`,
      };
  }
};

/** Creates the error for a statement that failed. */
export const statementError = (
  url: DatabaseUrl,
  address: ConnectFailure['address'],
  thrown: unknown,
): OpenPostgresError => {
  const kind = kindOf(thrown);
  const what =
    sqlStateOf(thrown) === undefined
      ? 'the database server accepted the connection but did not respond: it may be overloaded, or the table plants may be locked; check the server and retry'
      : advice(kind, url);
  const message = `${what} (${nameOf(address)}: ${describeThrown(thrown)})`;
  return { kind, message, cause: thrown };
};
