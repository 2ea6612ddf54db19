import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';

/**
 * Returns why a certificate and its key are invalid; `undefined` if they are valid.
 *
 * @example
 * ```ts
 * import { tlsFaultOf } from '@plantstore/server';
 *
 * const fault = tlsFaultOf({ cert: 'no certificate', key: '' });
 * if (fault !== undefined) console.error(`${fault.part} ${fault.why}`);
 * ```
 */
export function tlsFaultOf(tls: TlsOptions): TlsFault | undefined {
  const { cert } = tls;
  const certificate = attempt(() => new X509Certificate(cert));
  if (certificate === undefined || !hasPem(cert, 'CERTIFICATE')) {
    return { part: 'cert', why: 'has no certificate in PEM that can be read' };
  }
  const key = attempt(() => createPrivateKey(tls.key));
  if (key === undefined) return keyFault(tls);
  if (attempt(() => certificate.checkPrivateKey(key)) !== true) {
    return { part: 'key', why: 'is not the key of the certificate' };
  }
  return contextFault(tls);
}

/** The certificate of a server and its private key. */
export type TlsOptions = {
  /** The certificate chain, in PEM: the certificate first, then the intermediate certificates. */
  readonly cert: string | Buffer;
  /** The private key of the certificate, in PEM, unencrypted. */
  readonly key: string | Buffer;
};

/** Returns the options for Node, at the start and for a renewal of the certificate. */
export function secureOptionsOf({ cert, key }: TlsOptions): SecureContextOptions {
  return { cert, key, minVersion: 'TLSv1.2' };
}

/** What is wrong with a certificate and its key. */
export type TlsFault = {
  /** The wrong one. */
  readonly part: 'cert' | 'key';
  /**
   * Continues a sentence that starts with its name: `has no certificate in PEM that can be read`.
   */
  readonly why: string;
};

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function hasPem(text: string | Buffer, label: string): boolean {
  return text.includes(`-----BEGIN ${label}-----`);
}

function keyFault({ key }: TlsOptions): TlsFault {
  // PKCS #8, and the older PKCS #1.
  const isEncrypted =
    hasPem(key, 'ENCRYPTED PRIVATE KEY') || key.includes('Proc-Type: 4,ENCRYPTED');
  return isEncrypted
    ? { part: 'key', why: 'is encrypted; decrypt it with: openssl pkey' }
    : { part: 'key', why: 'has no private key in PEM that can be read' };
}

function contextFault(tls: TlsOptions): TlsFault | undefined {
  try {
    // Not imported, because a start without TLS would take longer.
    process.getBuiltinModule('node:tls').createSecureContext(secureOptionsOf(tls));
    return undefined;
  } catch (thrown) {
    // For example, a key that is too short. The messages of OpenSSL contain no secrets.
    return { part: 'cert', why: `cannot be used: ${(thrown as Error).message}` };
  }
}
