import { tlsFaultOf, type TlsOptions } from '../tls-options.ts';
import { readSettingFile } from './read-setting-file.ts';
import type { Settings } from './settings.ts';

/** The certificate and key to serve with, or why they cannot be used. */
export type LoadedTls =
  | { readonly kind: 'loaded'; readonly tls: TlsOptions }
  | { readonly kind: 'not-set' }
  | { readonly kind: 'cannot-load'; readonly message: string };

const cannotLoad = (part: keyof TlsOptions, path: string, reason: string): LoadedTls => ({
  kind: 'cannot-load',
  message:
    part === 'cert'
      ? `cannot use the certificate (--tls-cert, PLANTSTORE_TLS_CERT): ${path} ${reason}; name a file with its chain in PEM`
      : `cannot use the key (--tls-key, PLANTSTORE_TLS_KEY): ${path} ${reason}; name a file with the certificate's key in PEM`,
});

/** Reads the certificate and the key that the settings name, and checks that they can be used. */
export const loadTls = async ({
  tlsCert,
  tlsKey,
}: Pick<Settings, 'tlsCert' | 'tlsKey'>): Promise<LoadedTls> => {
  if (tlsCert === undefined || tlsKey === undefined) return { kind: 'not-set' };
  const cert = await readSettingFile(tlsCert);
  if (cert.kind === 'cannot-read') return cannotLoad('cert', tlsCert, cert.reason);
  const key = await readSettingFile(tlsKey);
  if (key.kind === 'cannot-read') return cannotLoad('key', tlsKey, key.reason);
  // Bytes, because a heap snapshot contains strings.
  const tls = { cert: cert.bytes, key: key.bytes };
  const fault = tlsFaultOf(tls);
  if (fault === undefined) return { kind: 'loaded', tls };
  return cannotLoad(fault.part, fault.part === 'cert' ? tlsCert : tlsKey, fault.why);
};
