import { err, ok, type Result } from 'neverthrow';

/**
 * Reads the parameters of a database URL, and libpq's variables. Errors never contain a value. They contain an unknown name
 * only if `mayNameAll`, because a password may extend into the parameters.
 */
export function readParameters(
  query: string,
  env: Readonly<Record<string, string | undefined>>,
  mayNameAll: boolean,
): Result<{ readonly parameters: Parameters; readonly show: ShowParameter }, string> {
  const parameters = new Map<string, string>();
  const sources = new Map<string, string>();
  for (const [name, variable = ''] of variables) {
    const value = env[variable];
    if (value === undefined) continue;
    if (!isKnown(name)) return err(`${variable} is not supported; unset it`);
    parameters.set(name, value);
    sources.set(name, variable);
  }
  for (const [name, value] of new URLSearchParams(query.replaceAll('+', '%2B'))) {
    if (!isKnown(name)) {
      const shown = mayNameAll && /^[a-z_]\w{0,62}$/i.test(name) ? `${name} ` : '';
      return err(
        `the database URL has a parameter ${shown}that is not supported; remove it. Supported parameters: ${Object.keys(supported).join(', ')}`,
      );
    }
    if (value === '') continue;
    parameters.set(name, value);
    sources.delete(name);
  }
  const show: ShowParameter = (name, value) => {
    const text = value === undefined ? '' : `=${value}`;
    const variable = sources.get(name);
    return variable === undefined ? `${name}${text} in the database URL` : variable + text;
  };
  for (const [name, values] of permittedValues) {
    const value = parameters.get(name)?.toLowerCase();
    if (value === undefined) continue;
    if (!values.includes(value))
      return err(`${show(name)} must be one of ${values.join(', ')}, or be removed`);
    parameters.set(name, value);
  }
  return ok({ parameters: Object.fromEntries(parameters), show });
}

/** Parameters of a database URL, with defaults from the variables. */
export type Parameters = Readonly<Partial<Record<keyof typeof supported, string>>>;

/** Returns a parameter as its user wrote it, for a message: `sslmode in the database URL` or `PGSSLMODE`. */
export type ShowParameter = (name: string, value?: string) => string;

/** Supported parameters, and the libpq variables that they override. */
const supported = {
  application_name: 'PGAPPNAME',
  channel_binding: 'PGCHANNELBINDING',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  fallback_application_name: undefined,
  host: undefined,
  keepalives: undefined,
  keepalives_idle: undefined,
  options: 'PGOPTIONS',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  target_session_attrs: 'PGTARGETSESSIONATTRS',
} as const;

const words = (text: string): readonly string[] => text.split(/\s+/);

/** The variables, also of parameters that are not supported: they name another server, or a check that is not done. */
const variables: readonly (readonly [string, string | undefined])[] = [
  ...Object.entries(supported),
  ...words(
    `gssencmode hostaddr min_protocol_version require_auth requirepeer requiressl service
    ssl_max_protocol_version ssl_min_protocol_version sslcertmode sslcrl sslcrldir sslnegotiation`,
  ).map((name) => [name, `PG${name.replaceAll('_', '').toUpperCase()}`] as const),
];

/** Ignored prefixes: other keepalives, pools and statement caches have no effect here. */
const ignoredFamilies = /^(keepalives|pool|statement_cache)(_|$)/;

/** Parameters that have no effect here: of libpq; of Prisma, pgx and lib/pq; of JDBC, Rails, node-postgres and Supabase. */
const ignored = words(
  `gssdelegation gsslib krbsrvname load_balance_hosts max_protocol_version sslcompression sslsni
  tcp_user_timeout binary_parameters connection_limit default_query_exec_mode max_connection_lifetime
  max_idle_connection_lifetime pgbouncer socket_timeout prepareThreshold prepared_statements supa
  uselibpqcompat workaround`,
);

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

const known = new Set([...Object.keys(supported), ...permittedValues.keys(), ...ignored]);

function isKnown(name: string): boolean {
  return known.has(name) || ignoredFamilies.test(name);
}
