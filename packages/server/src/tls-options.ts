import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

/** What a server shows to its clients, and proves that it is its own. */
export type TlsOptions = {
  /** The certificate, and what leads from it to an authority that clients know, in PEM. */
  readonly cert: string | Buffer;
  /** The private key of the certificate, in PEM, not encrypted. */
  readonly key: string | Buffer;
};

/** Which of the two cannot be used; `why` follows its name in a sentence. */
export type TlsFault = { readonly part: keyof TlsOptions; readonly why: string };

/** What Node is told for a server, at its start and when its certificate is renewed. */
export const secureOptionsOf = ({ cert, key }: TlsOptions) =>
  ({ cert, key, minVersion: 'TLSv1.2' }) as const;

const attempt = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

const contextFault = (tls: TlsOptions): TlsFault | undefined => {
  try {
    createSecureContext(secureOptionsOf(tls));
    return undefined;
  } catch (thrown) {
    // Such as a key that is too short to be safe; OpenSSL's messages have no secrets.
    const reason = thrown instanceof Error ? thrown.message : '';
    return { part: 'cert', why: `cannot be used: ${reason}` };
  }
};

const hasPem = (text: string | Buffer, label: string): boolean =>
  text.includes(`-----BEGIN ${label}-----`);

const keyFault = ({ key }: TlsOptions): TlsFault => {
  // PKCS #8, and what was before it.
  const isEncrypted =
    hasPem(key, 'ENCRYPTED PRIVATE KEY') || key.includes('Proc-Type: 4,ENCRYPTED');
  return isEncrypted
    ? { part: 'key', why: 'is encrypted; decrypt it with: openssl pkey' }
    : { part: 'key', why: 'has no private key in PEM that can be read' };
};

const belongsTo = (key: KeyObject, certificate: X509Certificate): boolean =>
  attempt(() => certificate.checkPrivateKey(key)) === true;

/** Why a certificate and its key cannot be used, if they cannot. */
export const tlsFaultOf = (tls: TlsOptions): TlsFault | undefined => {
  const { cert } = tls;
  const certificate = attempt(() => new X509Certificate(cert));
  if (certificate === undefined || !hasPem(cert, 'CERTIFICATE')) {
    return { part: 'cert', why: 'has no certificate in PEM that can be read' };
  }
  const key = attempt(() => createPrivateKey(tls.key));
  if (key === undefined) return keyFault(tls);
  if (!belongsTo(key, certificate)) {
    return { part: 'key', why: 'is not the key of the certificate' };
  }
  return contextFault(tls);
};
