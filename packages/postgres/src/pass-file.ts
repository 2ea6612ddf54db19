import { open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Address } from './database-url.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where libpq looks for passwords (its documentation's "The Password File"). */
const passFileOf = (env: Environment): string =>
  env['PGPASSFILE'] ??
  (process.platform === 'win32'
    ? join(env['APPDATA'] ?? '', 'postgresql', 'pgpass.conf')
    : join(env['HOME'] ?? homedir(), '.pgpass'));

const othersMayRead = (mode: number): boolean =>
  process.platform !== 'win32' && (mode & 0o077) !== 0;

const readPrivateFile = async (path: string): Promise<string> => {
  try {
    const file = await open(path);
    try {
      const status = await file.stat();
      // As libpq does: a password that others can read is none.
      return status.isFile() && !othersMayRead(status.mode) ? await file.readFile('utf8') : '';
    } finally {
      await file.close();
    }
  } catch {
    return '';
  }
};

const fieldsOf = (line: string): string[] =>
  (line.match(/(?:\\.|[^:\\])*(?::|$)/gs) ?? []).map((field) =>
    field.replace(/:$/, '').replaceAll(/\\(.)/gs, '$1'),
  );

/** The password for a server in the text of a pass file: `host:port:database:user:password` lines. */
export const findPassword = (
  text: string,
  { host, port }: Address,
  database: string,
  user: string,
): string | undefined => {
  const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), database, user];
  return text
    .split(/\r?\n/)
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(fieldsOf)
    .find((fields) => wanted.every((field, index) => ['*', field].includes(fields[index] ?? '')))
    ?.at(4);
};

/** Looks the password up in the user's pass file, as libpq does; `undefined` where there is none. */
export const readPassFile = async (
  env: Environment,
  address: Address,
  database: string,
  user: string,
): Promise<string | undefined> =>
  findPassword(await readPrivateFile(passFileOf(env)), address, database, user);
