import { err, ok, type Result } from 'neverthrow';

/** Supported parameters, and the libpq variables that they override. */
const supported = {
  application_name: 'PGAPPNAME',
  channel_binding: 'PGCHANNELBINDING',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  fallback_application_name: undefined,
  host: undefined,
  options: 'PGOPTIONS',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  target_session_attrs: undefined,
} as const;

type Name = keyof typeof supported;

/** Parameters of a database URL, with defaults from the variables. */
export type Parameters = Readonly<Partial<Record<Name, string>>>;

/** Ignored prefixes: keepalives, pools and statement caches have no effect here. */
const ignoredFamilies = /^(keepalives|pool|statement_cache)(_|$)/;

/** Parameters of libpq and other drivers that have no effect here. */
const ignored: ReadonlySet<string> = new Set([
  // libpq (postgresql.org/docs/current/libpq-connect.html)
  'gssdelegation',
  'gsslib',
  'krbsrvname',
  'load_balance_hosts',
  'max_protocol_version',
  'sslcompression',
  'sslsni',
  'tcp_user_timeout',
  // Prisma, pgx and lib/pq
  'binary_parameters',
  'connection_limit',
  'default_query_exec_mode',
  'max_connection_lifetime',
  'max_idle_connection_lifetime',
  'pgbouncer',
  'socket_timeout',
  // JDBC, Rails, node-postgres, Supabase
  'prepareThreshold',
  'prepared_statements',
  'supa',
  'uselibpqcompat',
  'workaround',
]);

/** Permitted values, in lower case. Of the unsupported parameters, these values have no effect here. */
const permittedValues: ReadonlyMap<string, readonly string[]> = new Map([
  ['channel_binding', ['disable', 'prefer', 'require']],
  ['client_encoding', ['auto', 'utf8', 'utf-8', 'unicode']],
  ['gssencmode', ['disable', 'prefer']],
  ['min_protocol_version', ['3.0']],
  ['replication', ['false', 'off', 'no', '0']],
  ['requiressl', ['0']],
  // The minimum of Node.js is TLS 1.2.
  ['ssl_min_protocol_version', ['tlsv1', 'tlsv1.1', 'tlsv1.2']],
  ['sslmode', ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']],
  ['sslnegotiation', ['postgres']],
  // All three select the server that accepts writes.
  ['target_session_attrs', ['any', 'primary', 'read-write']],
]);

const isKnown = (name: string): boolean =>
  Object.hasOwn(supported, name) ||
  permittedValues.has(name) ||
  ignored.has(name) ||
  ignoredFamilies.test(name);

/**
 * Reads the parameters of a database URL. Errors never contain a value. They contain an unknown name only if it
 * cannot be a part of the password.
 *
 * @param mayNameAll - whether a password cannot extend into the parameters
 */
export const readParameters = (
  query: string,
  env: Readonly<Record<string, string | undefined>>,
  mayNameAll: boolean,
): Result<Parameters, string> => {
  const parameters = new Map<string, string>();
  for (const [name, variable] of Object.entries(supported)) {
    const value = variable === undefined ? undefined : env[variable];
    if (value !== undefined) parameters.set(name, value);
  }
  for (const [name, value] of new URLSearchParams(query.replaceAll('+', '%2B'))) {
    if (!isKnown(name)) {
      const shown = mayNameAll && /^[a-z_]\w{0,62}$/i.test(name) ? `${name} ` : '';
      return err(
        `the database URL has a parameter ${shown}that is not supported; remove it. Supported parameters: ${Object.keys(supported).join(', ')}`,
      );
    }
    if (value !== '') parameters.set(name, value);
  }
  for (const [name, values] of permittedValues) {
    const value = parameters.get(name)?.toLowerCase();
    if (value === undefined) continue;
    if (!values.includes(value)) {
      return err(`${name} in the database URL must be one of ${values.join(', ')}, or be removed`);
    }
    parameters.set(name, value);
  }
  return ok(Object.fromEntries(parameters));
};
