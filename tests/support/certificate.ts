import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether this machine can make certificates. */
export const hasOpenssl: boolean = await run('openssl', ['version']).then(
  () => true,
  () => false,
);

/** A certificate for 127.0.0.1, which is its own authority, and its key. */
export type Certificate = { readonly cert: string; readonly key: string };

/** Makes such a certificate; `subject` tells one from another. */
export const makeCertificate = async (subject = 'plantstore'): Promise<Certificate> => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const what = ['-subj', `/CN=${subject}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  const how = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await run('openssl', ['req', '-x509', ...how, ...what, '-keyout', key, '-out', cert]);
  const made = { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') };
  await rm(folder, { recursive: true });
  return made;
};
