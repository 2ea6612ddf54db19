// PostgreSQL's "Parameter Key Words" (postgresql.org/docs/current/libpq-connect.html), and parameters
// of other drivers and poolers that hosting providers write into their URLs.

/** Parameters that change nothing here, whatever their value. */
const ignored: ReadonlySet<string> = new Set([
  // libpq
  'gssdelegation',
  'gsslib',
  'keepalives',
  'keepalives_count',
  'keepalives_idle',
  'keepalives_interval',
  'krbsrvname',
  'load_balance_hosts',
  'max_protocol_version',
  'sslcompression',
  'sslsni',
  'tcp_user_timeout',
  // Prisma
  'connection_limit',
  'max_connection_lifetime',
  'max_idle_connection_lifetime',
  'pgbouncer',
  'pool_timeout',
  'socket_timeout',
  'statement_cache_size',
  // pgx and lib/pq
  'binary_parameters',
  'default_query_exec_mode',
  'pool_health_check_period',
  'pool_max_conn_idle_time',
  'pool_max_conn_lifetime',
  'pool_max_conn_lifetime_jitter',
  'pool_max_conns',
  'pool_min_conns',
  'statement_cache_capacity',
  'statement_cache_mode',
  // JDBC, Rails, node-postgres, Supabase
  'pool',
  'prepareThreshold',
  'prepared_statements',
  'supa',
  'uselibpqcompat',
  'workaround',
]);

/** Parameters that change nothing here with these values, in lower case, and would with others. */
const ignoredValues: Readonly<Record<string, readonly string[]>> = {
  client_encoding: ['auto', 'utf8', 'utf-8', 'unicode'],
  gssencmode: ['disable', 'prefer'],
  min_protocol_version: ['3.0'],
  replication: ['false', 'off', 'no', '0'],
  requiressl: ['0'],
  // Node's own minimum is TLS 1.2.
  ssl_min_protocol_version: ['tlsv1', 'tlsv1.1', 'tlsv1.2'],
  sslnegotiation: ['postgres'],
};

/**
 * Decides about a parameter of a database URL that this package has no use for.
 *
 * @returns `ignored`, the values with which it is ignored, or `undefined` for a parameter that would
 * change what the URL means or is unknown
 */
export const ignoreParameter = (
  name: string,
  value: string,
): 'ignored' | readonly string[] | undefined => {
  if (ignored.has(name)) return 'ignored';
  const values = Object.hasOwn(ignoredValues, name) ? ignoredValues[name] : undefined;
  return value === '' || values?.includes(value.toLowerCase()) === true ? 'ignored' : values;
};
