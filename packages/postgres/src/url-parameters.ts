import { err, ok, type Result } from 'neverthrow';

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
};

type Environment = Readonly<Record<string, string | undefined>>;

const known = [
  'application_name',
  'host',
  'options',
  'sslcert',
  'sslkey',
  'sslmode',
  'sslrootcert',
  'target_session_attrs',
] as const;

const toPrimary = ['any', 'primary', 'read-write'];

/** Reads the parameters of a database URL; a fault never repeats what is written there. */
export const readParameters = (
  query: string,
  env: Environment,
): Result<Parameters & { readonly host: string | undefined }, string> => {
  const written = new URLSearchParams(query.replaceAll('+', '%2B'));
  const read = (name: (typeof known)[number], variable?: string): string | undefined => {
    const text = written.get(name) ?? (variable === undefined ? undefined : env[variable]);
    return text === '' ? undefined : text;
  };

  if ([...written.keys()].some((name) => !(known as readonly string[]).includes(name))) {
    return err(
      `the database URL has a parameter that is not known here; known are ${known.join(', ')}`,
    );
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
    applicationName: read('application_name', 'PGAPPNAME') ?? 'plantstore',
    options: read('options', 'PGOPTIONS'),
  });
};
