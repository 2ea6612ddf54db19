import { err, ok, type Result } from 'neverthrow';
import { ignoreParameter } from './ignored-parameters.ts';

const tlsModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;

/** How a connection is encrypted and the server verified (libpq's `sslmode`). */
export type TlsMode = (typeof tlsModes)[number];

/** What stands after the question mark of a database URL. */
export type Parameters = {
  readonly tlsMode: TlsMode;
  /** Files in PEM. `rootCertificate` may be `system`: the certificates that Node trusts. */
  readonly rootCertificate: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  readonly applicationName: string;
  /** Command-line options for the server process (libpq's `options`). */
  readonly options: string | undefined;
  /** How long one server may take to log in; `Infinity` for no limit. */
  readonly connectTimeoutMs: number | undefined;
  /** Whether the login must be bound to the TLS connection (SCRAM-SHA-256-PLUS). */
  readonly requiresChannelBinding: boolean;
};

type Environment = Readonly<Record<string, string | undefined>>;

const known = [
  'application_name',
  'channel_binding',
  'connect_timeout',
  'fallback_application_name',
  'host',
  'options',
  'sslcert',
  'sslkey',
  'sslmode',
  'sslrootcert',
  'target_session_attrs',
] as const;

const toPrimary = ['any', 'primary', 'read-write'];
const channelBindings = ['disable', 'prefer', 'require'];

/** What to write instead of a parameter that is not supported. */
const remedies: Readonly<Record<string, string>> = {
  dbname: 'write the database before the question mark',
  password: 'write the password before the question mark',
  port: 'write the port before the question mark',
  schema: 'options=-csearch_path%3D… names a schema',
  ssl: 'sslmode=require or sslmode=verify-full asks for TLS',
  sslaccept: 'sslmode=verify-full verifies the certificate',
  user: 'write the user before the question mark',
};

/** The fault of a parameter that is neither read nor ignored. */
const faultOf = (name: string, value: string, mayNameAll: boolean): string | undefined => {
  if ((known as readonly string[]).includes(name)) return undefined;
  const ignoring = ignoreParameter(name, value);
  if (ignoring === 'ignored') return undefined;
  if (ignoring !== undefined) {
    return `${name} in the database URL must be one of ${ignoring.join(', ')}, or be removed`;
  }
  const isNamed = mayNameAll && /^[a-z_]\w{0,62}$/i.test(name);
  const remedy = isNamed && Object.hasOwn(remedies, name) ? remedies[name] : 'remove it';
  return `the database URL has a parameter ${isNamed ? `${name} ` : ''}that is not supported: ${remedy}; supported are ${known.join(', ')}`;
};

const readSeconds = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  if (!/^[+-]?\d{1,9}$/.test(text)) return Number.NaN;
  // As in libpq: zero or less is no limit.
  return Number(text) > 0 ? Number(text) * 1_000 : Infinity;
};

/**
 * Reads the parameters of a database URL. A fault never repeats a value, and repeats an unknown name
 * only where it cannot be a part of the password.
 *
 * @param mayNameAll - whether the password, if there is one, ended before the parameters
 */
export const readParameters = (
  query: string,
  env: Environment,
  mayNameAll: boolean,
): Result<Parameters & { readonly host: string | undefined }, string> => {
  const written = new URLSearchParams(query.replaceAll('+', '%2B'));
  const read = (name: (typeof known)[number], variable?: string): string | undefined => {
    const text = written.get(name) ?? (variable === undefined ? undefined : env[variable]);
    return text === '' ? undefined : text;
  };

  for (const [name, value] of written) {
    const fault = faultOf(name, value, mayNameAll);
    if (fault !== undefined) return err(fault);
  }
  const tlsMode = tlsModes.find((mode) => mode === (read('sslmode', 'PGSSLMODE') ?? 'prefer'));
  if (tlsMode === undefined) {
    return err(`sslmode in the database URL must be one of ${tlsModes.join(', ')}`);
  }
  const rootCertificate = read('sslrootcert', 'PGSSLROOTCERT');
  if (tlsMode === 'verify-ca' && (rootCertificate ?? 'system') === 'system') {
    return err(
      'sslmode=verify-ca in the database URL needs sslrootcert, the file of your own authority; with public ones it protects nothing, use verify-full',
    );
  }
  const connectTimeoutMs = readSeconds(read('connect_timeout', 'PGCONNECT_TIMEOUT'));
  if (Number.isNaN(connectTimeoutMs)) {
    return err('connect_timeout in the database URL must be a number of seconds');
  }
  const channelBinding = read('channel_binding', 'PGCHANNELBINDING') ?? 'prefer';
  if (!channelBindings.includes(channelBinding)) {
    return err(`channel_binding in the database URL must be one of ${channelBindings.join(', ')}`);
  }
  const requiresChannelBinding = channelBinding === 'require';
  if (requiresChannelBinding && tlsMode === 'disable') {
    return err(
      'channel_binding=require in the database URL needs TLS: correct it, or sslmode=disable',
    );
  }
  const attributes = read('target_session_attrs');
  if (attributes !== undefined && !toPrimary.includes(attributes)) {
    return err('target_session_attrs in the database URL must be primary or read-write');
  }
  return ok({
    host: read('host'),
    tlsMode,
    rootCertificate,
    certificate: read('sslcert', 'PGSSLCERT'),
    key: read('sslkey', 'PGSSLKEY'),
    applicationName:
      read('application_name', 'PGAPPNAME') ?? read('fallback_application_name') ?? 'plantstore',
    options: read('options', 'PGOPTIONS'),
    connectTimeoutMs,
    requiresChannelBinding,
  });
};
