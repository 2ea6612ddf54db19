import { err, ok, type Result } from 'neverthrow';
import { tlsFaultOf, type TlsOptions } from '@plantstore/server';
import { readSettingFile } from './read-setting-file.ts';
import type { Settings } from '../settings/settings.ts';
import { shown } from '../settings/text.ts';

/** Reads the certificate and the key that the settings name, if any, and checks that they can be used. */
export async function loadTls({
  tlsCert,
  tlsKey,
}: Pick<Settings, 'tlsCert' | 'tlsKey'>): Promise<Result<TlsOptions | undefined, string>> {
  if (tlsCert === undefined || tlsKey === undefined) return ok(undefined);
  const cannotUse = (part: keyof TlsOptions, reason: string) =>
    err(
      part === 'cert'
        ? `cannot use the certificate (--tls-cert, PLANTSTORE_TLS_CERT): ${shown(tlsCert)} ${reason}; name a file with its chain in PEM`
        : `cannot use the key (--tls-key, PLANTSTORE_TLS_KEY): ${shown(tlsKey)} ${reason}; name a file with the certificate's key in PEM`,
    );
  const cert = await readSettingFile(tlsCert);
  if (cert.isErr()) return cannotUse('cert', cert.error);
  const key = await readSettingFile(tlsKey);
  if (key.isErr()) return cannotUse('key', key.error);
  // Bytes, because a heap snapshot contains strings.
  const tls = { cert: cert.value, key: key.value };
  const fault = tlsFaultOf(tls);
  return fault === undefined ? ok(tls) : cannotUse(fault.part, fault.why);
}
