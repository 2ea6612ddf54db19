import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { requires } from './requires.ts';

const run = promisify(execFile);

export const requiresOpenssl = requires(
  await run('openssl', ['version']).then(
    () => true,
    () => false,
  ),
  'openssl is not installed',
);

/** A self-signed certificate for 127.0.0.1, and its key. */
export type Certificate = { readonly cert: string; readonly key: string };

/** Creates a self-signed certificate. `subject` is its common name. */
export const makeCertificate = async (subject = 'plantstore'): Promise<Certificate> => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const subjectOptions = ['-subj', `/CN=${subject}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  const keyOptions = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await run('openssl', [
    'req',
    '-x509',
    ...keyOptions,
    ...subjectOptions,
    '-keyout',
    key,
    '-out',
    cert,
  ]);
  const certificate = { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') };
  await rm(folder, { recursive: true });
  return certificate;
};
