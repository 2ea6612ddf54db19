import { tlsFaultOf, type TlsOptions } from '../tls-options.ts';
import { readSettingFile } from './read-setting-file.ts';
import { namesOf, settingTable } from './setting-table.ts';
import type { TlsSetting } from './settings.ts';

/** The certificate and key to serve with, or why they cannot be used. */
export type LoadedTls =
  | { readonly kind: 'loaded'; readonly tls: TlsOptions }
  | { readonly kind: 'cannot-load'; readonly message: string };

const parts = {
  cert: { what: 'the certificate', setting: settingTable.tlsCert, wanted: 'its chain in PEM' },
  key: { what: 'the key', setting: settingTable.tlsKey, wanted: "the certificate's key in PEM" },
} as const;

const cannotLoad = (part: keyof typeof parts, path: string, why: string): LoadedTls => {
  const { what, setting, wanted } = parts[part];
  const message = `cannot use ${what} (${namesOf(setting)}): ${path} ${why}; name a file with ${wanted}`;
  return { kind: 'cannot-load', message };
};

/** Reads a certificate and its key, and tries whether they can be used. */
export const loadTls = async ({ certPath, keyPath }: TlsSetting): Promise<LoadedTls> => {
  const cert = await readSettingFile(certPath);
  if (cert.kind === 'cannot-read') return cannotLoad('cert', certPath, cert.why);
  const key = await readSettingFile(keyPath);
  if (key.kind === 'cannot-read') return cannotLoad('key', keyPath, key.why);
  // As bytes, which no heap snapshot shows.
  const tls = { cert: cert.bytes, key: key.bytes };
  const fault = tlsFaultOf(tls);
  if (fault === undefined) return { kind: 'loaded', tls };
  return cannotLoad(fault.part, fault.part === 'cert' ? certPath : keyPath, fault.why);
};
