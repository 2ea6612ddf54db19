import { readFile } from 'node:fs/promises';
import type { ConnectionOptions } from 'node:tls';
import { err, ok, type Result } from 'neverthrow';
import type { Parameters } from './url-parameters.ts';

/** How to make a connection secure. */
export type Tls = {
  /** `false` for a connection that is not encrypted. */
  readonly options: ConnectionOptions | false;
  /** Whether a server without TLS is taken as well. */
  readonly isOptional: boolean;
};

/** A file of the URL that cannot be used. */
export type TlsFault = { readonly message: string; readonly cause: unknown };

const namesOfFiles = {
  ca: 'sslrootcert',
  cert: 'sslcert',
  key: 'sslkey',
} as const;

const verification = ({ tlsMode, rootCertificate }: Parameters): ConnectionOptions => {
  switch (tlsMode) {
    case 'verify-full':
      return { rejectUnauthorized: true };
    case 'verify-ca':
      return { rejectUnauthorized: true, checkServerIdentity: () => undefined };
    case 'require':
      // As libpq does: an authority that is named is asked.
      return rootCertificate === undefined
        ? { rejectUnauthorized: false }
        : { rejectUnauthorized: true, checkServerIdentity: () => undefined };
    case 'prefer':
    case 'disable':
      return { rejectUnauthorized: false };
  }
};

/** Reads the files that the URL names and decides what is verified. */
export const readTls = async (parameters: Parameters): Promise<Result<Tls, TlsFault>> => {
  if (parameters.tlsMode === 'disable') return ok({ options: false, isOptional: false });
  const { rootCertificate, certificate, key } = parameters;
  const paths = {
    ca: rootCertificate === 'system' ? undefined : rootCertificate,
    cert: certificate,
    key,
  };
  const files: { ca?: string; cert?: string; key?: string } = {};
  for (const kind of ['ca', 'cert', 'key'] as const) {
    const path = paths[kind];
    if (path === undefined) continue;
    try {
      files[kind] = await readFile(path, 'utf8');
    } catch (cause) {
      return err({
        message: `the file ${path} that ${namesOfFiles[kind]} in the database URL names cannot be read`,
        cause,
      });
    }
  }
  return ok({
    options: { ...files, ...verification(parameters) },
    isOptional: parameters.tlsMode === 'prefer',
  });
};
