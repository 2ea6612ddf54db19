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
  // Not imported, because a start without TLS would take longer.
  const { createSecureContext } = process.getBuiltinModule('node:tls');
  // Bytes, because an empty text would be no certificate, which Node accepts.
  const cert = Buffer.from(tls.cert);
  return (
    faultOf('cert', 'has no certificate in PEM that can be used', () =>
      createSecureContext({ cert }),
    ) ??
    faultOf('key', 'has no unencrypted private key in PEM', () => createPrivateKey(tls.key)) ??
    faultOf('key', 'is not the key of the certificate', () => {
      createSecureContext(secureOptionsOf(tls));
      // OpenSSL compares only keys of one type.
      const isOfCert = new X509Certificate(cert).checkPrivateKey(createPrivateKey(tls.key));
      if (!isOfCert) throw new Error('their types differ');
    })
  );
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
  /** Continues a sentence that starts with its name: `is not the key of the certificate: …`. */
  readonly why: string;
};

function faultOf(part: TlsFault['part'], why: string, use: () => unknown): TlsFault | undefined {
  try {
    use();
    return undefined;
  } catch (thrown) {
    // The messages of Node and OpenSSL contain no secrets.
    return { part, why: `${why}: ${(thrown as Error).message}` };
  }
}
